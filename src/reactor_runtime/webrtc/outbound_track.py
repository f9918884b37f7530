"""OutboundTrack: one viewer's copy of one output track."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from reactor_runtime.clock import Clock
from reactor_runtime.media.encoded_frame import EncodedFrame
from reactor_runtime.webrtc.broadcast import Broadcast, PacketizedFrame
from reactor_runtime.webrtc.footing import Footing
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import SectionPlan
from reactor_runtime.webrtc.rtcp_packets import ReportBlock
from reactor_runtime.webrtc.rtp_stream import RtpStream
from reactor_runtime.webrtc.sender_reports import SenderReports
from reactor_runtime.webrtc.session_answer import StreamIds


class Flow(StrEnum):
    """What becomes of the next frame."""

    PAUSED = "paused"
    AWAITING_KEY = "awaiting_key"  # dropped, unless it is a key frame
    FLOWING = "flowing"


@dataclass(slots=True)
class OutboundCounters:
    """What one viewer was sent of one track, and what it says of it.

    Attributes:
        packets: RTP packets sent, without repeats.
        octets: Bytes of their payloads.
        frames: Pictures, or packets of sound.
        cuts: How often the viewer fell behind and was cut.
        dropped: Frames it did not get for that.
        repeats: Packets sent again.
        key_requests: PLI and FIR received.
        lost: Packets it says it lost.
        round_trip_s: There and back.
        estimate_bps: What it believes its line can carry; no encoder follows it.
        falls: Changes to a lower rung.
        climbs: Changes to a higher rung.
        padding_octets: Bytes sent to find out whether its link carries more.
    """

    packets: int = 0
    octets: int = 0
    frames: int = 0
    cuts: int = 0
    dropped: int = 0
    repeats: int = 0
    key_requests: int = 0
    lost: int = 0
    round_trip_s: float | None = None
    estimate_bps: int | None = None
    falls: int = 0
    climbs: int = 0
    padding_octets: int = 0

    @property
    def all_octets(self) -> int:
        """Bytes that left: payloads and padding."""
        return self.octets + self.padding_octets


class OutboundTrack:
    """Sends one track to one viewer while it is resumed.

    A viewer whose packets do not leave fast enough is cut: it gets nothing until its backlog is
    gone, then starts again at a key frame. Nobody else notices. Which rung of the ladder it gets is
    decided for all tracks of its link; a change happens at a key frame.

    Attributes:
        counters: What was sent, and what the viewer says of it.
        footing: The rung it gets.
        padding: Returns, at a monotonic time, the bytes of padding to send with each of pictures.
    """

    def __init__(
        self,
        plan: SectionPlan,
        broadcast: Broadcast,
        port: MediaPort,
        *,
        clock: Clock,
        cname: str,
        max_backlog_bytes: int,
    ) -> None:
        self.counters = OutboundCounters()
        self._broadcast, self._port, self._clock = broadcast, port, clock
        self._max_backlog_bytes = max_backlog_bytes
        self._flow = Flow.PAUSED
        self.footing = Footing(broadcast, self.show)
        self.padding: Callable[[float], float] = lambda now: 0.0
        self._stream = RtpStream(plan)
        self._reports = SenderReports(self._stream.ids.ssrc, broadcast.codec, cname, clock)

    @property
    def ids(self) -> StreamIds:
        """The SSRCs the answer announces."""
        return self._stream.ids

    @property
    def kind(self) -> str:
        """``video`` or ``audio``."""
        return "video" if self._broadcast.codec.is_video else "audio"

    @property
    def flow(self) -> Flow:
        """What becomes of the next frame."""
        return self._flow

    def show_at_once(self) -> None:
        """Ask the viewer not to smooth pictures."""
        self._stream.show_at_once()

    def resume(self) -> None:
        """Send frames from a key frame on. Idempotent.

        It is made at once; for somebody who resumes over and over, as for a PLI: all others pay.
        """
        if not self.footing.is_taken:
            self._flow = Flow.AWAITING_KEY
            self.footing.take(self._clock.now())

    def pause(self) -> None:
        """Send nothing. Idempotent."""
        self._flow = Flow.PAUSED
        self.footing.release()

    def show(self, frame: EncodedFrame) -> None:
        """Send *frame*, unless the viewer is paused, behind, or waits for a key frame."""
        if self._flow is Flow.PAUSED or not self._is_ours(frame) or not self._may_send(frame):
            return
        picture, now = self._broadcast.picture(frame), self._clock.now()
        self._port.send_rtp(self._stream.packets(picture, now))
        self._reports.count(picture)
        self._pad(picture, now)
        counters = self.counters
        counters.packets += len(picture.payloads)
        counters.octets += picture.size_bytes
        counters.frames += 1
        if counters.frames == 1:
            self.report()  # the receiver needs our clock to play sound and picture together

    def _is_ours(self, frame: EncodedFrame) -> bool:
        before = self.footing.shown
        if not self.footing.admits(frame):
            return False
        if self.footing.shown is not before:
            self._stream.change_rung()
            is_lower = self.footing.shown.bitrate_share < before.bitrate_share
            self.counters.falls += is_lower
            self.counters.climbs += not is_lower
        return True

    def _pad(self, picture: PacketizedFrame, now: float) -> None:
        size = int(self.padding(now) * picture.size_bytes)
        if size > 0 and not picture.is_key:  # which is a burst by itself
            packets = self._stream.padding(size, now)
            self.counters.padding_octets += sum(map(len, packets))
            self._port.send_rtp(packets)

    def _may_send(self, frame: EncodedFrame) -> bool:
        backlog = self._port.backlog_bytes
        if self._flow is Flow.FLOWING:
            if backlog <= self._max_backlog_bytes:
                return True
            self._flow = Flow.AWAITING_KEY
            self.counters.cuts += 1
        elif frame.is_key and backlog <= self._max_backlog_bytes // 4:
            self._flow = Flow.FLOWING
            return True
        elif backlog == 0:  # the one it was to begin with came too early
            self.footing.request_key(urgent=True)
        self.counters.dropped += 1
        return False

    def send_again(self, sequences: tuple[int, ...]) -> None:
        """Send lost packets once more; a viewer away for too long gets a key frame instead.

        A browser back from a cut asks for packets, and for a second not for a key frame.
        """
        now, trip = self._clock.now(), self.counters.round_trip_s or 0.0
        looked_for = self._stream.worth_a_look(sequences, now)
        if any(map(self._stream.breaks_off_at, looked_for)):
            self.footing.request_key()
            return
        packets = [self._stream.repeat(sequence, now, trip) for sequence in looked_for]
        found = [packet for packet in packets if packet is not None]
        self.counters.repeats += len(found)
        self._port.send_rtp(found)

    def request_key(self) -> None:
        """Pass on that the viewer cannot go on without a key frame."""
        self.counters.key_requests += 1
        self.footing.request_key()

    def note_report(self, block: ReportBlock) -> None:
        """Take what the viewer says of this stream."""
        self.counters.lost = block.packets_lost
        round_trip = self._reports.round_trip_s(block)
        if round_trip is not None:
            self.counters.round_trip_s = round_trip

    def report(self) -> None:
        """Send a sender report, once there is something to report on."""
        packet = self._reports.write() if self._flow is not Flow.PAUSED else None
        if packet is not None:
            self._port.send_rtcp(packet)
