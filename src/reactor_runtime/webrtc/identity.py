"""Identity: the certificate by which peers recognise this server, and the name of its clock."""

import secrets

from aiortc import RTCCertificate

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.aiortc_hooks import Certificate

_RENEW_AFTER_S = 20 * 24 * 3600  # it is valid for 30 days


class Identity:
    """One self-signed certificate for all peers, renewed before it expires.

    Attributes:
        cname: Names our clock in RTCP: streams that share it are played together.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._certificate: RTCCertificate | None = None
        self._made_at = 0.0
        self.cname = secrets.token_hex(8)

    @property
    def certificate(self) -> RTCCertificate:
        """The certificate; the first use makes it (about 10 ms, most of it OpenSSL's start)."""
        now = self._clock.now()
        if self._certificate is None or now - self._made_at > _RENEW_AFTER_S:
            self._certificate = Certificate.generateCertificate()
            self._made_at = now
        return self._certificate
