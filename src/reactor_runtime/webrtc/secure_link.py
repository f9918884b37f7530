"""SecureLink: the encrypted path to one peer: ICE, then DTLS, then SCTP, and SRTP beside it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from aiortc import RTCCertificate, RTCDataChannel, RTCSctpCapabilities

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.aiortc_hooks import (
    AgentSocket,
    DtlsTransport,
    IceAgent,
    SctpTransport,
)
from reactor_runtime.webrtc.candidates import RemoteCandidate
from reactor_runtime.webrtc.gathering import (
    GatherPlan,
    announced_candidates,
    bind_sockets,
    query_servers,
)
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.message_budget import MessageBudget
from reactor_runtime.webrtc.negotiation import Negotiation
from reactor_runtime.webrtc.session_answer import LocalTransport
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings

PEER_LEFT = "the peer has left"
_DRAIN_S = 0.25
_POLL_S = 0.005


class SecureLink:
    """One peer's transport. ``bind``, ``gather``, ``connect``; ``close`` in any state.

    Attributes:
        negotiation: What was offered and decided.
        lost: Set when the path is gone, or given up; ``lost_reason`` says why.
        media: Where RTP and RTCP go in and out.
    """

    def __init__(
        self,
        negotiation: Negotiation,
        plan: GatherPlan,
        certificate: RTCCertificate,
        *,
        settings: WebRtcSettings,
        clock: Clock,
    ) -> None:
        self.negotiation, self._plan = negotiation, plan
        self._max_candidates = settings.max_candidates
        self.media = MediaPort(clock, settings.max_media_packets_per_s)
        self._agent = IceAgent(
            clock, self.media.receive, turn=plan.queries.turn, credentials=plan.credentials
        )
        budget = MessageBudget(
            clock,
            messages_per_s=settings.max_messages_per_s,
            bytes_per_s=settings.max_inbound_bytes_per_s,
        )
        setup = negotiation.offer.transport.setup
        self._dtls = DtlsTransport(self._agent, certificate, setup=setup, budget=budget)
        self._sctp = SctpTransport(
            self._dtls,
            budget,
            max_message_bytes=settings.max_message_bytes,
            max_opens=4 * settings.max_channels,
        )
        self._sockets: Sequence[AgentSocket] = ()
        self._checks: asyncio.Future[None] | None = None
        self.lost = asyncio.Event()
        self.media.attach(self._agent, self._dtls)
        self._dtls.on("statechange", self._note_state)

    async def bind(self) -> None:
        """Bind the sockets. Raises ``PortTakenError`` or ``NoNetworkError``."""
        self._sockets = await bind_sockets(self._agent, self._plan)

    async def gather(self) -> None:
        """Ask the configured servers, within the plan's time."""
        await query_servers(self._agent, self._sockets, self._plan)

    def describe(self, cname: str) -> LocalTransport:
        """Return what the answer says of this side."""
        is_active = self.negotiation.offer.transport.setup != "active"
        return LocalTransport(
            ufrag=self._agent.local_username,
            password=self._agent.local_password,
            candidates=announced_candidates(self._agent, self._plan),
            fingerprint=self._dtls.fingerprint,
            setup="active" if is_active else "passive",
            cname=cname,
        )

    def on_channel(self, callback: Callable[[RTCDataChannel], None]) -> None:
        """Call *callback* with each data channel that the peer opens."""
        self._sctp.on("datachannel", callback)

    async def add_candidates(self, candidates: Iterable[RemoteCandidate]) -> None:
        """Take addresses of the peer, before or after ``connect``."""
        for candidate in candidates:
            await self._agent.add_remote(candidate, self._max_candidates)

    async def connect(self) -> None:
        """Find a path, shake hands and open the data association.

        Waits for ever if the peer never shows up: give it a deadline.

        Raises:
            ConnectionError: There is no path, or the peer is not who the offer says.
        """
        offer = self.negotiation.offer.transport
        self._agent.remote_username, self._agent.remote_password = offer.ufrag, offer.password
        self._agent.remote_is_lite = self._agent.ice_controlling = offer.is_lite
        self._checks = asyncio.ensure_future(self._agent.connect())
        selected = asyncio.ensure_future(self._agent.selected.wait())
        try:
            await asyncio.wait({self._checks, selected}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            selected.cancel()
        if not self._agent.selected.is_set():
            raise ConnectionError("no path to the peer")
        if not await self._dtls.open(offer.fingerprints):
            raise ConnectionError(self._dtls.fault or "the DTLS handshake failed")
        section = self.negotiation.data_section
        if section is not None:
            capabilities = RTCSctpCapabilities(maxMessageSize=section.max_message_bytes)
            await self._sctp.start(capabilities, section.sctp_port)

    # --- while it lives ---

    @property
    def remote_ufrag(self) -> str:
        """The ICE credentials of the offer; later candidates with others belong to the next."""
        return self.negotiation.offer.transport.ufrag

    @property
    def heard_at(self) -> float:
        """Monotonic seconds of the last datagram from the peer."""
        return self._agent.heard_at

    @property
    def lost_reason(self) -> str:
        """Why the path is gone, for people."""
        return self._dtls.fault or PEER_LEFT

    def give_up(self, reason: str) -> None:
        """Call the path lost; *reason* is for people."""
        self._dtls.fault = self._dtls.fault or reason
        self.lost.set()

    async def unless_lost(self, work: Coroutine[Any, Any, None]) -> None:
        """Await *work*, and stop waiting when the path is lost.

        Raises:
            ConnectionError: The path was lost first.
        """
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self.lost.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                if not task.done():
                    task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(results[0], asyncio.CancelledError):
            raise ConnectionError(self.lost_reason)
        if isinstance(results[0], BaseException):
            raise results[0]

    async def probe(self, timeout_s: float) -> bool:
        """Return whether the peer shows a sign of life within *timeout_s* seconds."""
        before = self._agent.heard_at
        answered = await self._agent.answers(timeout_s)
        return answered or self._agent.heard_at > before

    async def close(self) -> None:
        """Let what is queued leave, tell the peer, and let go of everything."""
        try:
            await self._drain()
            await self._sctp.stop()
            await self._dtls.stop()
            await self._agent.close()
        finally:
            self._agent.abandon()
            if self._checks is not None:
                self._checks.cancel()
                await asyncio.gather(self._checks, return_exceptions=True)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _DRAIN_S
        while self._dtls.state == "connected" and not self._sctp.is_drained:
            if loop.time() > deadline:
                return
            await asyncio.sleep(_POLL_S)

    def _note_state(self, *_: Any) -> None:
        if self._dtls.state in ("closed", "failed"):
            self.lost.set()
