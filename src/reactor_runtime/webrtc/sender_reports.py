"""SenderReports: how a viewer learns our clock, and we its round trip."""

from reactor_runtime.clock import Clock
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.broadcast import PacketizedFrame
from reactor_runtime.webrtc.ntp_time import middle_bits, to_ntp
from reactor_runtime.webrtc.rtcp_packets import (
    ReportBlock,
    SenderReport,
    write_description,
    write_sender_report,
)


class SenderReports:
    """The reports of one outbound stream.

    Streams of one connection share *cname* and one clock: that is what keeps sound and picture
    together at the receiver.
    """

    def __init__(self, ssrc: int, codec: Codec, cname: str, clock: Clock) -> None:
        self._ssrc, self._cname, self._clock = ssrc, cname, clock
        self._rate = codec.clock_rate
        self._last: PacketizedFrame | None = None
        self._packets = self._octets = 0

    def count(self, picture: PacketizedFrame) -> None:
        """Note that *picture* was sent."""
        self._last = picture
        self._packets += len(picture.payloads)
        self._octets += picture.size_bytes

    def write(self) -> bytes | None:
        """Return a report on what was sent until now, ``None`` when that is nothing."""
        if self._last is None:
            return None
        since = self._clock.now() - self._last.presented_at
        report = SenderReport(
            ssrc=self._ssrc,
            ntp_time=to_ntp(self._clock.wall()),
            rtp_time=self._last.timestamp + int(since * self._rate),
            packets=self._packets,
            octets=self._octets,
        )
        return write_sender_report(report) + write_description(self._ssrc, self._cname)

    def round_trip_s(self, block: ReportBlock) -> float | None:
        """Return the seconds a packet takes to the viewer and back, as *block* shows."""
        if not block.last_report:
            return None
        now = middle_bits(to_ntp(self._clock.wall()))
        units = (now - block.last_report - block.delay) & 0xFFFFFFFF
        return units / 65536 if units < 1 << 24 else None
