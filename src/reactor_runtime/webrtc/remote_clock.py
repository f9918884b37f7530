"""RemoteClock: from the time stamps of one inbound stream to wall time."""

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.ntp_time import from_ntp, middle_bits
from reactor_runtime.webrtc.rtcp_packets import SenderReport
from reactor_runtime.webrtc.rtp_packet import Unwrapper

_MAX_SKEW_S = 3600.0


class RemoteClock:
    """The sender's clock, as its reports tell it.

    Attributes:
        rate: Units of a time stamp per second.
    """

    def __init__(self, rate: int, clock: Clock) -> None:
        self.rate = rate
        self._clock = clock
        self._stamps = Unwrapper(32)
        self._report: SenderReport | None = None
        self._reported_stamp, self._heard_at = 0, 0.0

    def unwrap(self, timestamp: int) -> int:
        """Return a 32-bit time stamp as an ever growing one."""
        return self._stamps.unwrap(timestamp)

    def note_report(self, report: SenderReport) -> None:
        """Take the sender's clock."""
        self._report = report
        self._reported_stamp = self._stamps.unwrap(report.rtp_time)
        self._heard_at = self._clock.now()

    def capture_time_us(self, timestamp: int) -> int:
        """Return when the frame with this 32-bit time stamp was captured, in µs since 1970.

        By the sender's clock once it has told it, unless that is more than an hour off; else now.
        """
        wall_s = self._clock.wall()
        if self._report is not None:
            since_s = (self.unwrap(timestamp) - self._reported_stamp) / self.rate
            captured_s = from_ntp(self._report.ntp_time) + since_s
            if abs(captured_s - wall_s) < _MAX_SKEW_S:
                return int(captured_s * 1e6)
        return int(wall_s * 1e6)

    def last_report(self) -> tuple[int, int]:
        """Return the id of the last report and its age in 1/65536 s; zeros before the first."""
        if self._report is None:
            return (0, 0)
        age = int((self._clock.now() - self._heard_at) * 65536)
        return (middle_bits(self._report.ntp_time), min(age, 0xFFFFFFFF))
