"""InboundFeedback: what we tell a publisher about its stream."""

import secrets
from collections.abc import Sequence

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.aiortc_hooks import make_bitrate_estimator
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import ABS_SEND_TIME_URI, SectionPlan
from reactor_runtime.webrtc.rtcp_packets import (
    ReportBlock,
    write_bitrate_estimate,
    write_key_request,
    write_nack,
    write_receiver_report,
)
from reactor_runtime.webrtc.rtp_packet import RtpPacket

_KEY_REQUEST_GAP_S = 0.3


class InboundFeedback:
    """Asks for lost packets and key frames, reports reception and the bitrate that fits."""

    def __init__(self, plan: SectionPlan, port: MediaPort, clock: Clock) -> None:
        choice = plan.choice
        assert choice is not None
        self._port, self._clock = port, clock
        self._ssrc = secrets.randbits(32) | 1
        self._can_nack, self._can_pli = "nack" in choice.feedback, "nack pli" in choice.feedback
        self._stamp_id = plan.extensions.get(ABS_SEND_TIME_URI)
        has_estimate = "goog-remb" in choice.feedback and self._stamp_id is not None
        self._estimator = make_bitrate_estimator() if has_estimate else None
        self._asked_key_at = -_KEY_REQUEST_GAP_S

    def note(self, packet: RtpPacket) -> None:
        """Learn from the arrival of *packet* what the line can carry."""
        stamp = packet.extensions.get(self._stamp_id or 0)
        if self._estimator is None or stamp is None or len(stamp) != 3:
            return
        estimate = self._estimator.add(
            abs_send_time=int.from_bytes(stamp, "big"),
            arrival_time_ms=int(self._clock.now() * 1000),
            payload_size=len(packet.payload),
            ssrc=packet.ssrc,
        )
        if estimate is not None:
            self._port.send_rtcp(write_bitrate_estimate(self._ssrc, estimate[0], estimate[1]))

    def ask_again(self, media_ssrc: int, sequences: Sequence[int]) -> None:
        """Ask for lost packets, if the publisher can send them again."""
        if sequences and self._can_nack:
            self._port.send_rtcp(write_nack(self._ssrc, media_ssrc, sequences))

    def ask_key(self, media_ssrc: int) -> None:
        """Ask for a key frame, not more often than it can come."""
        now = self._clock.now()
        if self._can_pli and now - self._asked_key_at >= _KEY_REQUEST_GAP_S:
            self._asked_key_at = now
            self._port.send_rtcp(write_key_request(self._ssrc, media_ssrc))

    def report(self, block: ReportBlock) -> None:
        """Send a receiver report."""
        self._port.send_rtcp(write_receiver_report(self._ssrc, [block]))
