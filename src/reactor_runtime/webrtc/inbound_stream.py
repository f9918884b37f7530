"""InboundStream: the packets of one remote SSRC become encoded frames."""

import struct

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.frame_assembler import FrameAssembler
from reactor_runtime.webrtc.frame_decoders import EncodedInput
from reactor_runtime.webrtc.inbound_feedback import InboundFeedback
from reactor_runtime.webrtc.negotiation import CodecChoice
from reactor_runtime.webrtc.reception import Reception
from reactor_runtime.webrtc.remote_clock import RemoteClock
from reactor_runtime.webrtc.reorder_buffer import ReorderBuffer
from reactor_runtime.webrtc.rtp_packet import RtpPacket


class InboundStream:
    """Orders, joins and accounts for one stream while its track is wanted.

    Attributes:
        ssrc: The remote stream.
        remote: Its sender's clock.
        reception: What arrived of it.
    """

    def __init__(
        self, ssrc: int, choice: CodecChoice, feedback: InboundFeedback, clock: Clock
    ) -> None:
        is_video = choice.codec.is_video
        self.ssrc, self._choice = ssrc, choice
        self._feedback, self._clock = feedback, clock
        self.remote = RemoteClock(choice.codec.clock_rate, clock)
        self.reception = Reception(ssrc, self.remote, clock)
        self._order = ReorderBuffer(
            patience_s=0.25 if is_video else 0.06, capacity=512 if is_video else 32
        )
        self._assembler = FrameAssembler(choice.codec)

    @property
    def dropped(self) -> int:
        """Frames given up because packets were lost."""
        return self._assembler.dropped

    def add(self, packet: RtpPacket) -> list[EncodedInput]:
        """Take *packet*; return the frames that are whole now. Asks for what is missing."""
        now = self._clock.now()
        if packet.payload_type == self._choice.rtx_payload_type:
            if len(packet.payload) < 3:
                return []
            (number,) = struct.unpack_from("!H", packet.payload)  # it had before (RFC 4588)
            packet = packet._replace(sequence=number, payload=packet.payload[2:])
        elif packet.payload_type == self._choice.payload_type:
            self.reception.note(packet)
            self._feedback.note(packet)
        else:
            return []
        frames = []
        for is_gap, following in self._order.add(packet, now):
            if is_gap:
                self._assembler.lose()
            frames += [self._stamped(*whole) for whole in self._assembler.add(following)]
        self._ask(now)
        return frames

    def start_anew(self) -> None:
        """Drop pictures until the next key frame, and ask for it."""
        self._assembler.lose()
        self._feedback.ask_key(self.ssrc)

    def _ask(self, now: float) -> None:
        missing = self._order.to_ask(now)
        if missing is None or self._assembler.needs_key:
            self._feedback.ask_key(self.ssrc)
        if missing:
            self._feedback.ask_again(self.ssrc, missing)

    def _stamped(self, data: bytes, timestamp: int) -> EncodedInput:
        return EncodedInput(
            data=data,
            timestamp=timestamp,
            capture_time_us=self.remote.capture_time_us(timestamp),
        )
