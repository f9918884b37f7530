"""Signaling: from an offer to a connection. What the HTTP routes of wire-protocol 2 call."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.errors import (
    ConnectionLimitError,
    NoNetworkError,
    UnknownConnectionError,
)
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track
from reactor_runtime.session.connection import Connection, ConnectionListener
from reactor_runtime.task_set import TaskSet
from reactor_runtime.webrtc.broadcast import Broadcasts, FrameSource
from reactor_runtime.webrtc.candidates import (
    EarlyCandidates,
    RemoteCandidate,
    parse_candidate,
    read_candidates,
)
from reactor_runtime.webrtc.channel_pair import WantedChannels
from reactor_runtime.webrtc.connection_ids import LEGACY_ID, ConnectionIds, check_id
from reactor_runtime.webrtc.gathering import GatherPlan
from reactor_runtime.webrtc.ice_servers import describe_servers
from reactor_runtime.webrtc.identity import Identity
from reactor_runtime.webrtc.local_addresses import LOOPBACK, list_addresses
from reactor_runtime.webrtc.media_resource import MediaResource
from reactor_runtime.webrtc.negotiation import Negotiation, negotiate
from reactor_runtime.webrtc.offer_overrides import OfferOverrides, plan_gathering
from reactor_runtime.webrtc.one_way import negotiate_ingest, negotiate_playback
from reactor_runtime.webrtc.peer import Peer, PeerNeeds
from reactor_runtime.webrtc.session_offer import SessionOffer, parse_offer
from reactor_runtime.webrtc.staged_answer import StagedAnswer
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings

_MAX_WAIT_S = 1.0
_TICK_S = 1.0
_CLOSE_S = 3.0
_NO_NETWORK = (
    "this host has no network address but loopback, on which browsers and the SDK find no path; "
    "give it another address (a container: its own network), or connect a client that offers a "
    "127.0.0.1 candidate"
)
_ONE_CHANNEL_SDK = re.compile(r"[012]\.")


class Signaling:
    """Registers connections, answers offers and owns every peer until it is closed.

    Every method is called on the event loop.
    """

    def __init__(
        self,
        listener: ConnectionListener,
        stream: FrameSource | None,
        tracks: Sequence[Track],
        *,
        settings: WebRtcSettings | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._tracks = tuple(tracks)
        self._needs = PeerNeeds(
            listener=listener,
            broadcasts=Broadcasts(stream),
            identity=Identity(clock),
            settings=settings or WebRtcSettings(),
            clock=clock,
            metrics=metrics,
        )
        self._peers: dict[int, Peer] = {}
        self._answers: dict[int, StagedAnswer] = {}
        self._early = EarlyCandidates(per_connection=self._needs.settings.max_candidates)
        self._ids = ConnectionIds()
        self._tasks = TaskSet()
        self._ticker: asyncio.Task[Any] | None = None

    def __len__(self) -> int:
        """Return the number of connections, those still connecting included."""
        return len(self._peers)

    def no_network_reason(self) -> str | None:
        """Return why browsers and SDKs cannot reach this host, ``None`` when they can."""
        return None if list_addresses() else _NO_NETWORK

    def ice_servers(self) -> list[dict[str, Any]]:
        """Return the configured servers as clients want them: ``uris`` and ``credentials``."""
        return describe_servers(self._needs.settings.ice_servers)

    def register(self) -> tuple[int, dict[str, Any]]:
        """Mint a connection id.

        Returns:
            The id (5000-9999) and the track map ``{name: {kind, direction, rate}}``, model view.

        Raises:
            ConnectionLimitError: Every id is in use.
        """
        track_map = {
            track.name: {
                "kind": str(track.kind),
                "direction": str(track.direction),
                "rate": track.sample_rate,
            }
            for track in self._tracks
        }
        _ = self._needs.identity.certificate  # made while the client prepares its offer
        return self._ids.mint(self._peers), track_map

    async def offer(
        self,
        connection_id: int,
        sdp: str,
        track_mapping: Sequence[Mapping[str, Any]] | None = None,
        client_info: Mapping[str, Any] | None = None,
        *,
        replace: bool = False,
        overrides: OfferOverrides | None = None,
    ) -> Connection:
        """Accept an offer and negotiate in the background; the answer is staged when it is ready.

        An older peer of the same id is closed, whether *replace* is set (PUT) or not: an id belongs
        to whoever offered last.

        Returns:
            The connection it may lead to.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
            OfferError: The SDP, the mapping or the overrides cannot be used.
            ConnectionLimitError: There are too many connections, and none under this id.
            NoNetworkError: This host has only loopback and the offer names no loopback address.
            PortTakenError: The one port asked for is in use.
        """
        check_id(connection_id)
        negotiation = negotiate(self._read(sdp), track_mapping, self._tracks)
        wanted = _wanted_channels(connection_id, client_info or {})
        return await self._admit(connection_id, negotiation, wanted, overrides or OfferOverrides())

    def plan_media(self, sdp: str, track: str | None = None) -> Negotiation:
        """Decide how a player (or, of the input *track*, a publisher) without an SDK is served.

        Raises:
            OfferError: The SDP cannot be used, or fits no track.
            UnknownTrackError: The model has no input *track*.
        """
        offer = self._read(sdp)
        if track is None:
            return negotiate_playback(offer, self._tracks)
        return negotiate_ingest(offer, self._tracks, track)

    async def open_media(self, negotiation: Negotiation) -> MediaResource:
        """Accept the offer of a player or publisher, as ``plan_media`` has read it.

        Raises:
            ConnectionLimitError: There are too many connections.
            NoNetworkError: This host has only loopback and the offer names no loopback address.
        """
        connection_id, _ = self.register()
        peer = await self._admit(connection_id, negotiation, WantedChannels.NONE, OfferOverrides())
        return MediaResource(peer, self._answers[connection_id])

    def _read(self, sdp: str) -> SessionOffer:
        settings = self._needs.settings
        return parse_offer(
            sdp, max_bytes=settings.max_sdp_bytes, max_sections=settings.max_sections
        )

    async def _admit(
        self,
        connection_id: int,
        negotiation: Negotiation,
        wanted: WantedChannels,
        overrides: OfferOverrides,
    ) -> Peer:
        settings = self._needs.settings
        addresses = self._addresses_for(connection_id, negotiation.offer)
        plan = plan_gathering(settings, overrides, addresses)
        if connection_id not in self._peers and len(self._peers) >= settings.max_connections:
            raise ConnectionLimitError(settings.max_connections)
        peer = Peer(connection_id, negotiation, plan, self._needs, wanted=wanted)
        await self._replace(connection_id, peer, plan)
        return peer

    async def _replace(self, connection_id: int, peer: Peer, plan: GatherPlan) -> None:
        """Put *peer* in the place of whoever has this id, and start it."""
        self._ids.use(connection_id)
        answer = self._answers[connection_id] = StagedAnswer(connection_id)
        old, self._peers[connection_id] = self._peers.get(connection_id), peer
        is_ready = False
        try:
            if old is not None:
                name = f"close-{connection_id}"
                closing = self._tasks.spawn(old.close("replaced by a new offer"), name)
                if plan.port_range is not None:  # it may hold the port that is wanted
                    await asyncio.wait({closing})
            await peer.link.bind()
            lines = map(parse_candidate, peer.link.negotiation.offer.candidates)
            known = [candidate for candidate in lines if candidate is not None]
            known += self._early.take(connection_id, peer.link.remote_ufrag)
            await peer.link.add_candidates(known)
            is_ready = True
        finally:  # in any case somebody must let go of its sockets
            if not is_ready:
                peer.link.give_up("its offer failed")
            self._tasks.spawn(self._serve(peer, answer), f"connection-{connection_id}")
            if self._ticker is None or self._ticker.done():
                self._ticker = self._tasks.spawn(self._tick(), "connections-tick")

    async def _serve(self, peer: Peer, answer: StagedAnswer) -> None:
        has_opened = False
        try:
            has_opened = await peer.run(answer.stage)
        finally:
            if not has_opened:
                answer.fail(peer.link.lost_reason)
            if self._peers.get(peer.connection_id) is peer:
                del self._peers[peer.connection_id]

    def _addresses_for(self, connection_id: int, offer: SessionOffer) -> list[str]:
        """Return the addresses to bind for a peer.

        Raises:
            NoNetworkError: There is only loopback and the peer is not on it.
        """
        addresses = list_addresses()
        remote: list[RemoteCandidate | None] = [parse_candidate(line) for line in offer.candidates]
        remote += self._early.peek(connection_id)
        if any(candidate is not None and candidate.is_loopback for candidate in remote):
            return [*addresses, LOOPBACK]
        if not addresses:
            raise NoNetworkError(_NO_NETWORK)
        return addresses

    async def take_answer(self, connection_id: int, wait_s: float = 0.0) -> str | None:
        """Return the staged answer once, waiting up to *wait_s* seconds (at most 1) for it.

        Returns:
            The SDP, or ``None`` while there is none, and after it was taken.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
            UnknownConnectionError: Nobody registered it or made an offer for it.
            NegotiationError: The offer could not be answered after all, or led to no connection.
        """
        check_id(connection_id)
        answer = self._answers.get(connection_id)
        if answer is None:
            if self._ids.is_waiting(connection_id):
                return None
            raise UnknownConnectionError(connection_id)
        return await answer.take(min(wait_s, _MAX_WAIT_S))

    def add_candidates(
        self,
        connection_id: int,
        candidates: Sequence[Mapping[str, Any]],
        is_final: bool = False,
    ) -> None:
        """Take trickled candidates, keeping those of an offer that has not come yet.

        Each is ``{"candidate", "sdp_mid", "sdp_mline_index"}``. Empty strings, names that would
        have to be looked up, TCP and junk are dropped; *is_final* changes nothing.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
        """
        check_id(connection_id)
        useful = read_candidates(candidates)
        peer = self._peers.get(connection_id)
        now = [c for c in useful if peer is not None and c.ufrag in (None, peer.link.remote_ufrag)]
        later = [c for c in useful if c not in now]
        if later:
            self._early.keep(connection_id, later)
        if now and peer is not None:
            self._tasks.spawn(peer.link.add_candidates(now), f"candidates-{connection_id}")

    async def close_all(self, reason: str) -> None:
        """Close every peer within a bound and forget every id, answer and candidate."""
        closing = [
            self._tasks.spawn(peer.close(reason), f"close-{peer.connection_id}")
            for peer in self._peers.values()
        ]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSE_S)
        await self._tasks.close(_CLOSE_S)
        self._peers.clear()
        self._answers.clear()
        self._early.clear()
        self._ids.clear()

    async def _tick(self) -> None:
        while self._peers:
            await self._needs.clock.sleep_until(self._needs.clock.now() + _TICK_S)
            for peer in list(self._peers.values()):
                await peer.tick()


def _wanted_channels(connection_id: int, client_info: Mapping[str, Any]) -> WantedChannels:
    """Return which channels this kind of client opens."""
    is_js = client_info.get("sdk_type") == "js"
    is_old = bool(_ONE_CHANNEL_SDK.match(str(client_info.get("sdk_version", ""))))
    if connection_id == LEGACY_ID or (is_js and is_old):
        return WantedChannels.DATA
    return WantedChannels.BOTH
