"""Reception: what arrived of one inbound stream, as receiver reports tell it."""

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.remote_clock import RemoteClock
from reactor_runtime.webrtc.rtcp_packets import ReportBlock
from reactor_runtime.webrtc.rtp_packet import RtpPacket, Unwrapper


class Reception:
    """Counts the packets of one stream (RFC 3550 appendix A)."""

    def __init__(self, ssrc: int, remote: RemoteClock, clock: Clock) -> None:
        self._ssrc, self._remote, self._clock = ssrc, remote, clock
        self._numbers = Unwrapper(16)
        self._first = self._highest = -1
        self._received = 0
        self._reported = (0, 0)  # expected and received, as of the last report
        self._transit: float | None = None
        self._jitter = 0.0

    def note(self, packet: RtpPacket) -> None:
        """Count *packet*."""
        number = self._numbers.unwrap(packet.sequence)
        if self._first < 0:
            self._first = number
        self._highest = max(self._highest, number)
        self._received += 1
        stamp = self._remote.unwrap(packet.timestamp)
        transit = self._clock.now() * self._remote.rate - stamp
        if self._transit is not None:
            self._jitter += (abs(transit - self._transit) - self._jitter) / 16
        self._transit = transit

    def block(self) -> ReportBlock | None:
        """Return the report on the time since the last one, ``None`` before the first packet."""
        if self._first < 0:
            return None
        expected = self._highest - self._first + 1
        since = expected - self._reported[0]
        lost_since = since - (self._received - self._reported[1])
        self._reported = (expected, self._received)
        last_report, delay = self._remote.last_report()
        return ReportBlock(
            ssrc=self._ssrc,
            fraction_lost=max(0, min(255, lost_since * 256 // since)) if since > 0 else 0,
            packets_lost=expected - self._received,
            highest_sequence=self._highest,
            jitter=int(self._jitter),
            last_report=last_report,
            delay=delay,
        )
