"""Reception: what arrived of one inbound stream, as receiver reports tell it, and its clock."""

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.rtcp_packets import ReportBlock, SenderReport
from reactor_runtime.webrtc.rtp_packet import RtpPacket, Unwrapper

_NTP_EPOCH_S = 2_208_988_800  # from 1900 to 1970
_MAX_SKEW_S = 3600.0


class Reception:
    """Counts one stream (RFC 3550 appendix A) and maps its time stamps to wall time."""

    def __init__(self, ssrc: int, clock_rate: int, clock: Clock) -> None:
        self.ssrc = ssrc
        self._rate, self._clock = clock_rate, clock
        self._numbers, self._stamps = Unwrapper(16), Unwrapper(32)
        self._first = self._highest = -1
        self._received = self._reported_expected = self._reported_received = 0
        self._transit: float | None = None
        self._jitter = 0.0
        self._report: tuple[SenderReport, int, float] | None = None

    def note(self, packet: RtpPacket) -> int:
        """Count *packet*; return its time stamp, unwrapped."""
        number = self._numbers.unwrap(packet.sequence)
        if self._first < 0:
            self._first = number
        self._highest = max(self._highest, number)
        self._received += 1
        stamp = self._stamps.unwrap(packet.timestamp)
        transit = self._clock.now() * self._rate - stamp
        if self._transit is not None:
            self._jitter += (abs(transit - self._transit) - self._jitter) / 16
        self._transit = transit
        return stamp

    def note_report(self, report: SenderReport) -> None:
        """Take the sender's clock."""
        self._report = (report, self._stamps.unwrap(report.rtp_time), self._clock.now())

    def capture_time_us(self, stamp: int) -> int:
        """Return when *stamp* (unwrapped) was captured, in microseconds since 1970.

        By the sender's clock once it has told it, unless that is more than an hour off; else now.
        """
        wall_s = self._clock.wall()
        if self._report is not None:
            report, at, _ = self._report
            captured_s = report.ntp_time / 2**32 - _NTP_EPOCH_S + (stamp - at) / self._rate
            if abs(captured_s - wall_s) < _MAX_SKEW_S:
                return int(captured_s * 1e6)
        return int(wall_s * 1e6)

    def block(self) -> ReportBlock | None:
        """Return the report on the time since the last one, ``None`` before the first packet."""
        if self._first < 0:
            return None
        expected = self._highest - self._first + 1
        since = expected - self._reported_expected
        lost_since = since - (self._received - self._reported_received)
        self._reported_expected, self._reported_received = expected, self._received
        fraction = max(0, min(255, lost_since * 256 // since)) if since > 0 else 0
        last_report = delay = 0
        if self._report is not None:
            last_report = self._report[0].ntp_time >> 16 & 0xFFFFFFFF
            delay = int((self._clock.now() - self._report[2]) * 65536)
        return ReportBlock(
            ssrc=self.ssrc,
            fraction_lost=fraction,
            packets_lost=expected - self._received,
            highest_sequence=self._highest,
            jitter=int(self._jitter),
            last_report=last_report,
            delay=min(delay, 0xFFFFFFFF),
        )
