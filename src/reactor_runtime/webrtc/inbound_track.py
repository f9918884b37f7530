"""InboundTrack: one input track that a client may publish."""

from collections.abc import Callable

from reactor_runtime.clock import Clock
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.webrtc.frame_decoders import DecodedInput, make_decoder
from reactor_runtime.webrtc.inbound_feedback import InboundFeedback
from reactor_runtime.webrtc.inbound_stream import InboundStream
from reactor_runtime.webrtc.media_decoder import MediaDecoder
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import SectionPlan
from reactor_runtime.webrtc.rtcp_packets import SenderReport
from reactor_runtime.webrtc.rtp_packet import RtpPacket

_PICTURES_WAITING = 12
_SOUNDS_WAITING = 25
_IDLE_TICKS = 3


class InboundTrack:
    """Decodes what a client sends while somebody wants it; else its packets are dropped unread.

    Attributes:
        frames: Frames delivered.
        unwanted: Packets dropped because nobody wants the track.
    """

    def __init__(
        self,
        plan: SectionPlan,
        port: MediaPort,
        *,
        clock: Clock,
        wanted: Callable[[], bool],
        deliver: Callable[[InputFrame], None],
    ) -> None:
        self._plan, self._clock = plan, clock
        self._wanted, self._deliver_frame = wanted, deliver
        self._feedback = InboundFeedback(plan, port, clock)
        self._stream: InboundStream | None = None
        self._decoder: MediaDecoder | None = None
        self._idle_ticks = 0
        self.frames = self.unwanted = 0

    @property
    def name(self) -> str:
        """The model's name of the track."""
        return self._plan.input.name if self._plan.input is not None else ""

    @property
    def lost(self) -> int:
        """Frames given up because packets did not arrive, since the track was last wanted."""
        return self._stream.dropped if self._stream is not None else 0

    @property
    def skipped(self) -> int:
        """Frames dropped because newer ones were there already, since the decoder was opened."""
        return self._decoder.dropped if self._decoder is not None else 0

    def add(self, packet: RtpPacket) -> None:
        """Take one packet of the client."""
        if not self._wanted():
            self.unwanted += 1
            self._stream = None
            return
        self._idle_ticks = 0
        choice = self._plan.choice
        assert choice is not None
        is_repeat = packet.payload_type == choice.rtx_payload_type
        stream = self._stream
        if stream is None or (packet.ssrc != stream.ssrc and not is_repeat):
            if is_repeat:
                return
            stream = self._stream = InboundStream(packet.ssrc, choice, self._feedback, self._clock)
        for frame in stream.add(packet):
            if not self._open_decoder(choice.codec).put(frame):
                stream.start_anew()

    def note_report(self, report: SenderReport) -> None:
        """Take the publisher's clock."""
        if self._stream is not None and report.ssrc == self._stream.ssrc:
            self._stream.remote.note_report(report)

    async def tick(self) -> None:
        """Report on reception, about once a second; let an idle decoder go."""
        block = self._stream.reception.block() if self._stream is not None else None
        if block is not None:
            self._feedback.report(block)
        self._idle_ticks += 1
        if self._idle_ticks > _IDLE_TICKS:
            await self.close()

    async def close(self) -> None:
        """End the decoder, within a bound. A later packet opens it again."""
        decoder, self._decoder, self._stream = self._decoder, None, None
        if decoder is not None:
            await decoder.stop()

    def _open_decoder(self, codec: Codec) -> MediaDecoder:
        if self._decoder is None:
            track = self._plan.input
            assert track is not None
            self._decoder = MediaDecoder(
                make_decoder(codec, track.sample_rate),
                self._deliver,
                self._start_anew,
                capacity=_PICTURES_WAITING if codec.is_video else _SOUNDS_WAITING,
                keep=1 if codec.is_video else _SOUNDS_WAITING,
            )
            self._decoder.start()
        return self._decoder

    def _start_anew(self) -> None:
        if self._stream is not None:
            self._stream.start_anew()

    def _deliver(self, decoded: DecodedInput) -> None:
        if self._wanted():
            self.frames += 1
            self._deliver_frame(
                InputFrame(data=decoded.data, capture_time_us=decoded.capture_time_us)
            )
