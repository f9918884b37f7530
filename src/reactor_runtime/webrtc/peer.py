"""Peer: one viewer's WebRTC connection, from its offer until it is gone."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.errors import ConnectionClosedError
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.connection import Connection, ConnectionListener
from reactor_runtime.webrtc.broadcast import Broadcasts
from reactor_runtime.webrtc.channel_pair import ChannelPair, WantedChannels
from reactor_runtime.webrtc.gathering import GatherPlan
from reactor_runtime.webrtc.identity import Identity
from reactor_runtime.webrtc.negotiation import Negotiation
from reactor_runtime.webrtc.peer_figures import EndCause, PeerFigures
from reactor_runtime.webrtc.peer_media import MediaNeeds, PeerMedia
from reactor_runtime.webrtc.secure_link import PEER_LEFT, SecureLink
from reactor_runtime.webrtc.session_answer import render_answer
from reactor_runtime.webrtc.session_offer import MediaSection
from reactor_runtime.webrtc.web_rtc_settings import PlayoutDelay, WebRtcSettings
from reactor_runtime.wire.channel import Channel

log = get_logger(__name__)
_MAX_HELD_FRAMES = 64
_CURE = "let UDP through to this host, or set --public-address, --port-range or --turn"


class PeerState(StrEnum):
    """Where a peer is in its life. It only goes forward."""

    CONNECTING = "connecting"
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerNeeds:
    """What every peer is given.

    Attributes:
        listener: What it reports to.
        broadcasts: Where its pictures come from.
        identity: Our certificate.
        settings: Choices and limits.
        clock: Time.
        metrics: Where its figures go.
    """

    listener: ConnectionListener
    broadcasts: Broadcasts
    identity: Identity
    settings: WebRtcSettings
    clock: Clock
    metrics: Metrics | None = None


class Peer(Connection):
    """Answers one offer and serves the connection it leads to.

    Life: ``link.bind``, then ``run`` until ``close`` or until the path is lost. What arrives before
    the connection counts as open is held and delivered after ``opened``.

    Attributes:
        link: Its transport.
    """

    def __init__(
        self,
        connection_id: int,
        negotiation: Negotiation,
        plan: GatherPlan,
        needs: PeerNeeds,
        *,
        wanted: WantedChannels,
    ) -> None:
        self.connection_id, self.client_id = connection_id, str(connection_id)
        self._needs = needs
        self._state, self._finished = PeerState.CONNECTING, asyncio.Event()
        self._figures = PeerFigures(needs.metrics)
        self._held: list[tuple[Channel, bytes | str]] = []
        settings, clock = needs.settings, needs.clock
        self.link = SecureLink(
            negotiation, plan, needs.identity.certificate, settings=settings, clock=clock
        )
        section = negotiation.data_section
        self._channels = ChannelPair(
            connection_id,
            wanted if section is not None else WantedChannels.NONE,
            _most_bytes(section, settings),
            settings,
            on_frame=self._receive,
            on_closed=lambda: self.link.give_up(PEER_LEFT),
        )
        self.link.on_channel(self._channels.take)
        media_needs = MediaNeeds(
            broadcasts=needs.broadcasts,
            clock=clock,
            cname=needs.identity.cname,
            client=self.client_id,
            max_backlog_bytes=settings.max_backlog_bytes,
            wants=lambda track: (
                self._state is PeerState.OPEN and needs.listener.wants_media(self, track)
            ),
            deliver=lambda track, frame: needs.listener.media_received(self, track, frame),
        )
        self._media = PeerMedia(negotiation, self.link.media, media_needs)

    # --- its life ---

    async def run(self, stage: Callable[[str], None]) -> bool:
        """Answer (through *stage*), connect, serve, and let go of everything.

        Returns:
            Whether the connection ever opened; if not, ``link.lost_reason`` says why.
        """
        link, limit_s = self.link, self._needs.settings.connect_timeout_s
        started, has_opened = self._needs.clock.now(), False
        try:
            async with asyncio.timeout(limit_s):
                await link.unless_lost(link.gather())
                stage(_render(link, self._media, self._needs))
                await link.unless_lost(link.connect())
                await link.unless_lost(self._channels.opened())
            self._open(self._needs.clock.now() - started)
            has_opened = self._state is PeerState.OPEN
            await link.lost.wait()
            has_left = link.lost_reason == PEER_LEFT
            self._end(link.lost_reason, EndCause.LEFT if has_left else EndCause.FAULT)
        except TimeoutError:
            was_heard = link.heard_at > started
            found = "live connection" if was_heard else "network path to the peer"
            self._fail(f"no {found} within {limit_s:g} s of its offer")
        except ConnectionError as error:
            self._fail(str(error))
        finally:
            self._end("failed", EndCause.FAULT)
            await _release(self._media, link, self._needs.settings.close_timeout_s)
            self._finished.set()
        return has_opened

    def _open(self, after_s: float) -> None:
        if self._state is PeerState.CLOSED:  # closed in the moment it was ready
            return
        self._state = PeerState.OPEN
        self._figures.note_open(after_s)
        wish = self._needs.settings.playout_delay
        is_near = self.link.media.is_near
        if wish is PlayoutDelay.ALWAYS or (wish is PlayoutDelay.AUTO and is_near):
            self._media.show_at_once()
        log.info("connection_opened", client=self.client_id, near=is_near)
        self._needs.listener.opened(self)
        if not self.has_control:  # a client of this kind never asks for its tracks
            for track in self._media.outputs:
                self.resume_track(track)
        held, self._held = self._held, []
        for channel, frame in held:
            self._receive(channel, frame)

    def _fail(self, reason: str) -> None:
        """Note that nothing came of the offer, and tell whoever can do something about it."""
        self.link.give_up(reason)
        if self._state is PeerState.CONNECTING and reason != PEER_LEFT:
            log.warning("connection_failed", client=self.client_id, reason=reason, cure=_CURE)
            self._needs.listener.failed(self, reason)
        self._end(reason, EndCause.LEFT if reason == PEER_LEFT else EndCause.NO_PATH)

    def _end(self, reason: str, cause: EndCause) -> None:
        was, self._state = self._state, PeerState.CLOSED
        if was is PeerState.CLOSED:
            return
        log.info("connection_closed", client=self.client_id, reason=reason, was=was.value)
        self._figures.publish(self._media)
        self._figures.note_end(cause, was_open=was is PeerState.OPEN)
        if was is PeerState.OPEN:
            self._needs.listener.closed(self, reason)

    async def tick(self) -> None:
        """Send reports; to be called about once a second."""
        if self._state is PeerState.OPEN:
            await self._media.tick()
            self._figures.publish(self._media)

    def _receive(self, channel: Channel, frame: bytes | str) -> None:
        if self._state is PeerState.OPEN:
            self._needs.listener.received(self, channel, frame)
        elif self._state is PeerState.CONNECTING and len(self._held) < _MAX_HELD_FRAMES:
            self._held.append((channel, frame))

    # --- what a session asks of it ---

    @property
    def has_control(self) -> bool:
        """Whether the peer opened a control channel."""
        return self._channels.has_control

    @property
    def max_message_bytes(self) -> int:
        """The largest frame the peer takes."""
        return self._channels.max_message_bytes

    @property
    def silent_for_s(self) -> float:
        """Seconds since anything at all arrived; media or RTCP from one that takes no messages."""
        source = self.link if self.takes_messages else self.link.media
        return self._needs.clock.now() - source.heard_at

    def send(self, channel: Channel, frame: bytes | str, *, can_drop: bool = False) -> None:
        """Queue one frame; raises what ``Connection.send`` says."""
        if self._state is PeerState.CLOSED:
            raise ConnectionClosedError(self.connection_id)
        self._channels.send(channel, frame, can_drop=can_drop)

    def resume_track(self, track: str) -> bool:
        """Start sending an output track."""
        return self._state is PeerState.OPEN and self._media.resume(track)

    def pause_track(self, track: str) -> bool:
        """Stop sending an output track."""
        return self._media.pause(track)

    async def probe(self, timeout_s: float) -> bool:
        """Ask the peer for a sign of life; any datagram is one."""
        return self._state is PeerState.OPEN and await self.link.probe(timeout_s)

    def stats(self) -> Mapping[str, Any]:
        """Return figures for operators."""
        return {
            "state": self._state.value,
            "silent_for_s": round(self.silent_for_s, 3),
            "buffered_bytes": self._channels.buffered_bytes,
            **self._media.stats(),
        }

    async def close(self, reason: str = "closed by the server") -> None:
        """Close and release everything within a bound. Idempotent."""
        self._end(reason, EndCause.SERVER)
        self.link.give_up(reason)
        await self._finished.wait()


def _most_bytes(section: MediaSection | None, settings: WebRtcSettings) -> int:
    """Return the size of the largest message that either side takes."""
    offered = section.max_message_bytes if section is not None else 0
    return min(offered or settings.max_message_bytes, settings.max_message_bytes)


def _render(link: SecureLink, media: PeerMedia, needs: PeerNeeds) -> str:
    return render_answer(
        link.negotiation,
        link.describe(needs.identity.cname),
        media.stream_ids,
        max_message_bytes=needs.settings.max_message_bytes,
    )


async def _release(media: PeerMedia, link: SecureLink, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await media.close()
            await link.close()
    except TimeoutError:
        log.warning("connection_closes_slowly")
