"""STUN and TURN servers: as clients are told of them, and as the ICE agent asks them. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reactor_runtime.errors import OfferError
from reactor_runtime.webrtc.web_rtc_settings import IceServer

_URI = re.compile(
    r"(?P<scheme>stuns?|turns?):(?P<host>\[[0-9A-Fa-f:.]+\]|[^:?\[\]]+)(?::(?P<port>\d{1,5}))?"
    r"(?:\?transport=(?P<transport>udp|tcp))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnServer:
    """Where to ask for a relayed address."""

    host: str
    port: int
    transport: str
    is_tls: bool
    username: str | None
    credential: str | None = field(repr=False)

    @property
    def place(self) -> str:
        """Its address, for people."""
        scheme = "turns" if self.is_tls else "turn"
        return f"{scheme}:{self.host}:{self.port}?transport={self.transport}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IceQueries:
    """Who is asked while gathering.

    Attributes:
        stun: (host, port) of a STUN server.
        turn: A TURN server.
    """

    stun: tuple[str, int] | None = None
    turn: TurnServer | None = None


def describe_servers(servers: Sequence[IceServer]) -> list[dict[str, Any]]:
    """Return *servers* as clients read them: ``uris``, and ``credentials`` for TURN."""
    described: list[dict[str, Any]] = []
    for server in servers:
        entry: dict[str, Any] = {"uris": list(server.uris)}
        if server.username is not None:
            credentials = {"username": server.username, "password": server.credential or ""}
            entry["credentials"] = credentials
        described.append(entry)
    return described


def read_servers(entries: Sequence[Mapping[str, Any]]) -> tuple[IceServer, ...]:
    """Return servers from the wire's form.

    Raises:
        OfferError: An entry is malformed.
    """
    servers = []
    for entry in entries:
        uris, credentials = entry.get("uris"), entry.get("credentials") or {}
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise OfferError("ice_servers: uris must be a list of strings")
        server = IceServer(
            uris=tuple(uris),
            username=credentials.get("username"),
            credential=credentials.get("password"),
        )
        servers.append(server)
    queries_of(servers)  # malformed URIs are the offer's fault, not a failure later
    return tuple(servers)


def queries_of(servers: Sequence[IceServer]) -> IceQueries:
    """Return whom to ask: the first STUN and the first TURN server of *servers*.

    STUN over TLS (``stuns:``) is for clients alone: it is handed to them and not asked.

    Raises:
        OfferError: A URI is malformed.
    """
    stun: tuple[str, int] | None = None
    turn: TurnServer | None = None
    for server in servers:
        for uri in server.uris:
            found = _URI.fullmatch(uri)
            if found is None or int(found["port"] or 0) > 65535:
                raise OfferError(f"ice_servers: cannot read {uri[:80]!r}")
            host = found["host"].strip("[]")
            port = int(found["port"] or (5349 if found["scheme"].endswith("s") else 3478))
            if found["scheme"] == "stun":
                stun = stun or (host, port)
            elif found["scheme"].startswith("turn") and turn is None:
                is_tls = found["scheme"] == "turns"
                turn = TurnServer(
                    host=host,
                    port=port,
                    transport=found["transport"] or ("tcp" if is_tls else "udp"),
                    is_tls=is_tls,
                    username=server.username,
                    credential=server.credential,
                )
    return IceQueries(stun=stun, turn=turn)
