"""The only file that knows private names of aiortc and aioice; a test holds each of them.

Used from aiortc are its DTLS and SCTP transports, over an ICE agent of aioice. SDP, RTP and RTCP
are ours, so nothing of aiortc's peer connection, senders or receivers runs: one set of sockets and
two tasks per peer, and no decoder for a track that nobody reads.
"""

import asyncio
import ssl
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from aioice import Candidate, Connection
from aioice.ice import StunProtocol, relayed_candidate
from aioice.stun import TransactionError
from aiortc import RTCCertificate, RTCDtlsFingerprint, RTCDtlsParameters
from aiortc.rate import RemoteBitrateEstimator
from aiortc.rtcdtlstransport import RTCDtlsTransport
from aiortc.rtcsctptransport import RTCSctpTransport
from pylibsrtp import Error as SrtpError

from reactor_runtime.clock import Clock
from reactor_runtime.log import get_logger
from reactor_runtime.webrtc.candidates import RemoteCandidate
from reactor_runtime.webrtc.ice_servers import TurnServer
from reactor_runtime.webrtc.message_budget import MessageBudget

log = get_logger(__name__)
AIORTC_RANGE = ((1, 14), (1, 17))  # tested: from, and below
# Forward secrecy throughout; the peer's certificate decides between elliptic and RSA.
_CIPHERS = (
    b"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-SHA:"
    b"ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305"
)
_MAX_WAITING_DATAGRAMS = 1024
_MEDIA_BYTES = range(128, 192)  # first byte of RTP and RTCP (RFC 7983)
# What aioice and aiortc raise on packets that are malformed or come out of turn.
_JUNK = (ValueError, LookupError, AssertionError, AttributeError, TypeError, struct.error)


class PeerFaultError(ConnectionError):
    """Raised inside the transports when a peer breaks the protocol; ends its connection."""


class IceAgent(Connection):
    """An ICE agent that binds where it is told and tells media from data.

    Attributes:
        selected: Set once a path to the peer is known.
        heard_at: Monotonic seconds of the last datagram.
        dropped: Datagrams dropped because the peer is read too slowly for them.
    """

    def __init__(
        self,
        clock: Clock,
        on_media: Callable[[bytes], None],
        *,
        turn: TurnServer | None = None,
        credentials: tuple[str, str] | None = None,
    ) -> None:
        options: dict[str, Any] = {}
        if credentials is not None:
            options = {"local_username": credentials[0], "local_password": credentials[1]}
        if turn is not None:
            options |= {
                "turn_server": (turn.host, turn.port),
                "turn_username": turn.username,
                "turn_password": turn.credential,
                "turn_ssl": turn.is_tls,
                "turn_transport": turn.transport,
            }
        super().__init__(ice_controlling=False, **options)
        self.selected = asyncio.Event()
        self.heard_at = clock.now()
        self.dropped = 0
        self._clock, self._on_media = clock, on_media

    def adopt(self, protocol: "AgentSocket", candidate: Candidate) -> None:
        """Use a bound socket as the local *candidate*."""
        protocol.local_candidate = candidate
        self._protocols.append(protocol)
        self._local_candidates.append(candidate)

    def finish_gathering(self, candidates: Iterable[Candidate]) -> None:
        """Add *candidates* that servers told us, and end gathering."""
        self._local_candidates += candidates
        self._local_candidates_end = True

    def abandon(self) -> None:
        """Let go of every socket at once, without a word to anybody."""
        for protocol in self._protocols:
            inner = getattr(protocol.transport, "_TurnTransport__inner_protocol", protocol)
            inner.transport.close()

    async def gather_relayed(self) -> list[Candidate]:
        """Return the relayed address that the TURN server grants. Cancel it to give up."""
        assert self.turn_server is not None
        tls = await asyncio.to_thread(_tls_context) if self.turn_ssl else None
        candidate, protocol = await relayed_candidate(
            component=1,
            hide_related_address=False,
            protocol_factory=lambda: AgentSocket(self),
            turn_server=self.turn_server,
            turn_username=self.turn_username,
            turn_password=self.turn_password,
            turn_ssl=tls,
            turn_transport=self.turn_transport,
        )
        self._protocols.append(protocol)
        return [candidate]

    async def add_remote(self, candidate: RemoteCandidate, limit: int) -> None:
        """Take a candidate of the peer; a known one, and any past *limit*, is ignored."""
        if len(self._remote_candidates) >= limit or self._closing:
            return
        await self.add_remote_candidate(
            Candidate(
                foundation=candidate.foundation,
                component=1,
                transport="udp",
                priority=candidate.priority,
                host=candidate.host,
                port=candidate.port,
                type="srflx" if candidate.kind == "prflx" else candidate.kind,
            )
        )

    def check_complete(self, pair: Any) -> None:
        """Note the selected path as soon as there is one (``connect`` looks every 20 ms)."""
        super().check_complete(pair)
        if self._nominated:
            self.selected.set()

    def data_received(self, data: bytes, component: int) -> None:
        """Hand media on at once; queue the rest for DTLS, within a bound."""
        if data[0] in _MEDIA_BYTES:
            self._on_media(data)
        elif self._queue.qsize() < _MAX_WAITING_DATAGRAMS:
            super().data_received(data, component)
        else:
            self.dropped += 1  # SCTP sends it again, more slowly

    def heard(self) -> None:
        """Note a sign of life."""
        self.heard_at = self._clock.now()

    @property
    def peer_address(self) -> str | None:
        """The IP address packets go to, once there is a path."""
        pair = self._nominated.get(1)
        return None if pair is None else str(pair.remote_addr[0])

    def path(self) -> tuple[Any, tuple[str, int]] | None:
        """Return the datagram transport and address of the selected path."""
        pair = self._nominated.get(1)
        return None if pair is None else (pair.protocol.transport, pair.remote_addr)

    async def answers(self, timeout_s: float) -> bool:
        """Return whether the peer answers a STUN check within *timeout_s* seconds."""
        pair = self._nominated.get(1)
        if pair is None or self.remote_password is None:
            return False
        key = self.remote_password.encode()
        check = self.build_request(pair, nominate=False)
        try:
            async with asyncio.timeout(timeout_s):
                await pair.protocol.request(
                    check, pair.remote_addr, integrity_key=key, retransmissions=2
                )
        except (TransactionError, TimeoutError):
            return False
        return True


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    """Return what TURN over TLS trusts; reading the machine's certificates takes 100 ms."""
    return ssl.create_default_context()


class AgentSocket(StunProtocol):
    """One bound UDP socket of an agent."""

    def datagram_received(self, data: bytes | str, addr: tuple[Any, ...]) -> None:
        """Pass STUN to the agent's checks and everything else to its peer."""
        assert isinstance(data, bytes)
        if not data:
            return
        self.receiver.heard()
        if data[0] > 3:  # not STUN
            self.receiver.data_received(data, 1)
            return
        try:
            super().datagram_received(data, addr)
        except _JUNK:
            return  # a malformed check of whoever found the port


def make_bitrate_estimator() -> Any:
    """Return what tells from arrival times the bitrate a line can carry (REMB).

    ``add(abs_send_time=, arrival_time_ms=, payload_size=, ssrc=)`` returns ``(bits per second,
    ssrcs)`` now and then, else ``None``.
    """
    return RemoteBitrateEstimator()


def backlog_bytes(transport: Any) -> int:
    """Return the bytes that wait in a datagram transport (or behind a TURN server's)."""
    inner = getattr(transport, "_TurnTransport__inner_protocol", None)
    if inner is not None:
        transport = inner.transport
    return int(transport.get_write_buffer_size())


class _AgentPath:
    """What aiortc's DTLS transport needs of an ICE transport."""

    def __init__(self, agent: IceAgent) -> None:
        self._agent = agent
        self._recv, self._send = agent.recv, agent.send

    @property
    def role(self) -> str:
        return "controlling" if self._agent.ice_controlling else "controlled"


class Certificate(RTCCertificate):
    """Ours is elliptic; peers' are often RSA (GStreamer's), which takes ciphers for either."""

    def _create_ssl_context(self, srtp_profiles: Any) -> Any:
        context = super()._create_ssl_context(srtp_profiles)
        context.set_cipher_list(_CIPHERS)
        return context


class DtlsTransport(RTCDtlsTransport):
    """DTLS and SRTP of one peer.

    Attributes:
        fault: How the peer broke the protocol, if it did.
        fingerprint: Of our certificate, as SDP writes it.
    """

    def __init__(
        self, agent: IceAgent, certificate: RTCCertificate, *, setup: str, budget: MessageBudget
    ) -> None:
        super().__init__(_AgentPath(agent), [certificate])
        self._set_role("server" if setup == "active" else "client")
        self._budget = budget
        self.fault: str | None = None
        prints = {found.algorithm: found.value for found in certificate.getFingerprints()}
        self.fingerprint = f"sha-256 {prints['sha-256']}"

    async def open(self, fingerprints: Sequence[tuple[str, str]]) -> bool:
        """Shake hands with the peer that has one of *fingerprints*; return whether it worked."""
        known = [RTCDtlsFingerprint(algorithm=name, value=value) for name, value in fingerprints]
        await self.start(RTCDtlsParameters(fingerprints=known))
        if self._task is not None:
            self._task.add_done_callback(_report_failure)
        return bool(self.state == "connected")

    async def _recv_next(self) -> None:
        if self.encrypted:
            await self._budget.wait()
        try:
            await super()._recv_next()
        except PeerFaultError as error:
            self.fault = str(error)
            raise
        except _JUNK as error:
            self.fault = f"malformed packet ({type(error).__name__})"
            raise ConnectionError(self.fault) from error

    @property
    def can_protect(self) -> bool:
        """Whether the keys for media are known."""
        return self._tx_srtp is not None and self.state == "connected"

    def protector(self) -> Callable[[bytes], bytes]:
        """Return what encrypts one RTP packet; call it on the event loop only."""
        protect: Callable[[bytes], bytes] = self._tx_srtp.protect
        return protect

    def protect_rtcp(self, packet: bytes) -> bytes:
        """Return an RTCP packet encrypted."""
        return bytes(self._tx_srtp.protect_rtcp(packet))

    def unprotect(self, packet: bytes, *, is_rtcp: bool) -> bytes | None:
        """Return a media packet decrypted, ``None`` when it is not the peer's."""
        session = self._rx_srtp
        if session is None:
            return None
        try:
            return bytes(session.unprotect_rtcp(packet) if is_rtcp else session.unprotect(packet))
        except (SrtpError, ValueError):
            return None


def _report_failure(task: asyncio.Future[None]) -> None:
    """Log what a receiving task died of: nobody else asks for it."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("connection_broke", exc_info=(type(error), error, error.__traceback__))


class SctpTransport(RTCSctpTransport):
    """Data channels of one peer, with bounds on what it may send."""

    def __init__(
        self, dtls: DtlsTransport, budget: MessageBudget, *, max_message_bytes: int, max_opens: int
    ) -> None:
        super().__init__(dtls)
        self._budget = budget
        self._window = self._advertised_rwnd
        self._max_message_bytes, self._opens_left = max_message_bytes, max_opens

    @property
    def is_drained(self) -> bool:
        """Whether the peer has acknowledged everything sent."""
        return not (self._data_channel_queue or self._outbound_queue or self._sent_queue)

    async def _receive_data_chunk(self, chunk: Any) -> None:
        held = self._window - self._advertised_rwnd
        if held > self._window or (
            held > 3 * self._max_message_bytes and self._longest_part() > self._max_message_bytes
        ):
            raise PeerFaultError(f"a message is past the limit of {self._max_message_bytes} bytes")
        await super()._receive_data_chunk(chunk)

    def _longest_part(self) -> int:
        """Return the bytes of the longest message that is still arriving."""
        longest = 0
        for stream in self._inbound_streams.values():
            size = 0
            for chunk in stream.reassembly:
                size = len(chunk.user_data) + (0 if chunk.flags & 2 else size)
                longest = max(longest, size)
        return longest

    async def _receive(self, stream_id: int, pp_id: int, data: bytes) -> None:
        self._budget.spend(len(data))
        if len(data) > self._max_message_bytes:
            raise PeerFaultError(f"a message is past the limit of {self._max_message_bytes} bytes")
        if pp_id == 50 and data[:1] == b"\x03":  # DATA_CHANNEL_OPEN
            self._opens_left -= 1
            if self._opens_left < 0:
                raise PeerFaultError("too many data channels")
        try:
            await super()._receive(stream_id, pp_id, data)
        except UnicodeDecodeError:
            return  # a text that is none: dropped, as any frame that cannot be read

    async def _send_chunk(self, chunk: Any) -> None:
        try:
            await super()._send_chunk(chunk)
        except ConnectionError:
            return  # the peer is gone; timers that still fire have nobody to tell
