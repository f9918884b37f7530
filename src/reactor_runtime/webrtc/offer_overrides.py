"""OfferOverrides: what one offer may ask of its own connection, against the settings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reactor_runtime.errors import OfferError
from reactor_runtime.webrtc.gathering import GatherPlan
from reactor_runtime.webrtc.ice_servers import queries_of, read_servers
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings

_UFRAG = re.compile(r"[A-Za-z0-9+/]{4,256}")
_PASSWORD = re.compile(r"[A-Za-z0-9+/]{22,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferOverrides:
    """As they come from the wire; ``plan_gathering`` checks them.

    Attributes:
        ice_servers: ``[{"uris": [...], "credentials": {"username", "password"}?}]``, replacing the
            configured ones even if empty.
        ice_credentials: ``{"ufrag", "pwd"}`` of our side.
        port_range: First and last UDP port; a single port that is taken is a ``PortTakenError``.
    """

    ice_servers: Sequence[Mapping[str, Any]] | None = None
    ice_credentials: Mapping[str, str] | None = None
    port_range: Sequence[int] | None = None


def plan_gathering(
    settings: WebRtcSettings, overrides: OfferOverrides, addresses: Sequence[str]
) -> GatherPlan:
    """Return where the candidates of one connection come from.

    Raises:
        OfferError: An override is malformed.
    """
    servers = settings.ice_servers
    if overrides.ice_servers is not None:
        servers = read_servers(overrides.ice_servers)
    ports = settings.port_range
    if overrides.port_range is not None:
        ports = _read_ports(overrides.port_range)
    return GatherPlan(
        addresses=addresses,
        port_range=ports,
        public_address=settings.public_address,
        queries=queries_of(servers),
        timeout_s=settings.gather_timeout_s,
        credentials=_read_credentials(overrides.ice_credentials),
    )


def _read_ports(ports: Sequence[int]) -> tuple[int, int]:
    if len(ports) != 2 or not 1 <= ports[0] <= ports[1] <= 65535:
        raise OfferError(f"port_range: two ports of 1-65535, the lower first, not {list(ports)!r}")
    return (ports[0], ports[1])


def _read_credentials(credentials: Mapping[str, str] | None) -> tuple[str, str] | None:
    if credentials is None:
        return None
    ufrag, password = str(credentials.get("ufrag", "")), str(credentials.get("pwd", ""))
    if not _UFRAG.fullmatch(ufrag) or not _PASSWORD.fullmatch(password):
        raise OfferError("ice_credentials: ufrag of 4-256 and pwd of 22-256 ICE characters")
    return (ufrag, password)
