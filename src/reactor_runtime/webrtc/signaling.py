"""Signaling: from an offer to a connection. What the HTTP routes of wire-protocol 2 call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track
from reactor_runtime.session.connection import ConnectionListener
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings

LEGACY_ID = 1001  # clients that never register a connection


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferOverrides:
    """What one offer may ask of its own connection, against the settings.

    Attributes:
        ice_servers: ``[{"uris": [...], "credentials": {"username", "password"}?}]``, replacing the
            configured ones even if empty.
        ice_credentials: ``{"ufrag", "pwd"}`` of our side.
        port_range: First and last UDP port; a single port that is taken is a ``PortTakenError``.
    """

    ice_servers: Sequence[Mapping[str, Any]] | None = None
    ice_credentials: Mapping[str, str] | None = None
    port_range: tuple[int, int] | None = None


class Signaling:
    """Registers connections, answers offers and owns every peer until it is closed.

    Every method is called on the event loop.
    """

    def __init__(
        self,
        listener: ConnectionListener,
        stream: LiveStream | None,
        tracks: Sequence[Track],
        *,
        settings: WebRtcSettings | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        raise NotImplementedError

    def no_network_reason(self) -> str | None:
        """Return why browsers and SDKs cannot reach this host, ``None`` when they can."""
        raise NotImplementedError

    def ice_servers(self) -> list[dict[str, Any]]:
        """Return the configured servers as clients want them: ``uris`` and ``credentials``."""
        raise NotImplementedError

    def register(self) -> tuple[int, dict[str, Any]]:
        """Mint a connection id.

        Returns:
            The id (5000-9999) and the track map ``{name: {kind, direction, rate}}``, model view.

        Raises:
            ConnectionLimitError: Every id is in use.
        """
        raise NotImplementedError

    async def offer(
        self,
        connection_id: int,
        sdp: str,
        track_mapping: Sequence[Mapping[str, Any]] | None = None,
        client_info: Mapping[str, Any] | None = None,
        *,
        replace: bool = False,
        overrides: OfferOverrides | None = None,
    ) -> None:
        """Accept an offer and negotiate in the background; the answer is staged when it is ready.

        An older peer of the same id is closed, whether *replace* is set (PUT) or not: an id belongs
        to whoever offered last.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
            OfferError: The SDP, the mapping or the overrides cannot be used.
            ConnectionLimitError: There are too many connections, and none under this id.
            NoNetworkError: This host has only loopback and the offer names no loopback address.
            PortTakenError: The one port asked for is in use.
        """
        raise NotImplementedError

    async def take_answer(self, connection_id: int, wait_s: float = 0.0) -> str | None:
        """Return the staged answer once, waiting up to *wait_s* seconds (at most 1) for it.

        Returns:
            The SDP, or ``None`` while there is none, and after it was taken.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
            UnknownConnectionError: Nobody registered it or made an offer for it.
            NegotiationError: The offer could not be answered after all.
        """
        raise NotImplementedError

    def add_candidates(
        self,
        connection_id: int,
        candidates: Sequence[Mapping[str, Any]],
        is_final: bool = False,
    ) -> None:
        """Take trickled candidates, keeping those of an id that has made no offer yet.

        Each is ``{"candidate", "sdp_mid", "sdp_mline_index"}``. Empty strings, names that would
        have to be looked up, TCP and junk are dropped; *is_final* changes nothing.

        Raises:
            ConnectionIdError: The id is outside 1001-9999.
        """
        raise NotImplementedError

    async def close_all(self, reason: str) -> None:
        """Close every peer within a bound and forget every id, answer and candidate."""
        raise NotImplementedError
