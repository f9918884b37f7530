"""MediaPort: RTP and RTCP in and out of one peer's encrypted path."""

from collections.abc import Callable, Iterable

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.aiortc_hooks import DtlsTransport, IceAgent, backlog_bytes
from reactor_runtime.webrtc.local_addresses import is_near

_RTCP_TYPES = range(192, 224)  # second byte; no RTP packet has one of these (RFC 5761)
_RTCP_PER_S = 500  # a browser on a bad link sends some 50 for each track


class MediaPort:
    """Encrypts what leaves and decrypts what arrives. Belongs to the event loop.

    Args:
        clock: Time.
        max_packets_per_s: More packets than that are dropped as they arrive; of RTCP, of which
            one packet may ask for a thousand others, 500.

    Attributes:
        on_packet: Called with each packet of the peer, decrypted, and whether it is RTCP.
        dropped: Packets dropped because the peer sends too many.
        heard_at: Monotonic seconds of the last genuine packet, of the start before there is one.
    """

    def __init__(self, clock: Clock, max_packets_per_s: int) -> None:
        self._clock, self._max_packets_per_s = clock, max_packets_per_s
        self._second, self._arrived, self._rtcp_arrived = 0, 0, 0
        self.dropped, self.heard_at = 0, clock.now()
        self._agent: IceAgent | None = None
        self._dtls: DtlsTransport | None = None
        self.on_packet: Callable[[bytes, bool], None] = lambda packet, is_rtcp: None

    def attach(self, agent: IceAgent, dtls: DtlsTransport) -> None:
        """Use this path and these keys, once they exist."""
        self._agent, self._dtls = agent, dtls

    @property
    def is_near(self) -> bool:
        """Whether the peer is on this machine or in a private network."""
        address = self._agent.peer_address if self._agent is not None else None
        return address is not None and is_near(address)

    @property
    def backlog_bytes(self) -> int:
        """Bytes that wait to leave."""
        path = self._agent.path() if self._agent is not None else None
        return 0 if path is None else backlog_bytes(path[0])

    def send_rtp(self, packets: Iterable[bytes]) -> None:
        """Encrypt and send RTP packets; dropped while there is no path."""
        path = self._agent.path() if self._agent is not None else None
        if path is None or self._dtls is None or not self._dtls.can_protect:
            return
        transport, address = path
        send, protect = transport.sendto, self._dtls.protector()
        for packet in packets:
            send(protect(packet), address)

    def send_rtcp(self, packet: bytes) -> None:
        """Encrypt and send one (compound) RTCP packet; dropped while there is no path."""
        path = self._agent.path() if self._agent is not None else None
        if path is not None and self._dtls is not None and self._dtls.can_protect:
            path[0].sendto(self._dtls.protect_rtcp(packet), path[1])

    def receive(self, packet: bytes) -> None:
        """Take a packet as it came from the network; what does not decrypt is dropped."""
        if len(packet) < 12 or self._dtls is None:
            return
        is_rtcp = packet[1] in _RTCP_TYPES
        if self._is_too_many(is_rtcp):
            return
        plain = self._dtls.unprotect(packet, is_rtcp=is_rtcp)
        if plain is not None:
            self.heard_at = self._clock.now()
            self.on_packet(plain, is_rtcp)

    def _is_too_many(self, is_rtcp: bool) -> bool:
        second = int(self._clock.now())
        if second != self._second:
            self._second, self._arrived, self._rtcp_arrived = second, 0, 0
        self._arrived += 1
        self._rtcp_arrived += is_rtcp
        is_one_report_too_many = is_rtcp and self._rtcp_arrived > _RTCP_PER_S
        if self._arrived <= self._max_packets_per_s and not is_one_report_too_many:
            return False
        self.dropped += 1
        return True
