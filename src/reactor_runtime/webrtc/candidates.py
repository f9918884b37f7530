"""Remote ICE candidates: which of a client's are of use, and where early ones wait."""

import ipaddress
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TYPES = ("host", "srflx", "prflx", "relay")
_UFRAG = re.compile(r"\bufrag (\S{4,256})")
_MAX_CHARACTERS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCandidate:
    """A UDP address of the peer.

    Attributes:
        foundation: As the client wrote it.
        priority: As the client wrote it.
        host: An IP address.
        port: A UDP port.
        kind: ``host``, ``srflx``, ``prflx`` or ``relay``.
        ufrag: The ICE credentials it belongs to, where the client says so.
    """

    foundation: str
    priority: int
    host: str
    port: int
    kind: str
    ufrag: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.host).is_loopback


def parse_candidate(text: str) -> RemoteCandidate | None:
    """Return the candidate in *text*, ``None`` when it is of no use to us.

    Of no use are: an empty string (the end of candidates), host names (``.local`` ones take a
    second to resolve; the peer is found without them, as peer-reflexive), TCP, other components
    than 1, addresses that are no unicast address, and junk.
    """
    line = text.strip().removeprefix("a=").removeprefix("candidate:")
    fields = line.split()
    if len(fields) < 8 or len(line) > _MAX_CHARACTERS:
        return None
    foundation, component, transport, priority, host, port, _, kind = fields[:8]
    numbers = (component, priority, port)
    if transport.lower() != "udp" or not all(number.isdecimal() for number in numbers):
        return None
    if component != "1" or kind not in _TYPES or not 0 < int(port) < 65536:
        return None
    if not _is_unicast(host) or int(priority) >= 2**32:
        return None
    ufrag = _UFRAG.search(line)
    return RemoteCandidate(
        foundation=foundation,
        priority=int(priority),
        host=host,
        port=int(port),
        kind=kind,
        ufrag=ufrag[1] if ufrag else None,
    )


def _is_unicast(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    is_broadcast = address == ipaddress.ip_address("255.255.255.255")
    return not (address.is_unspecified or address.is_multicast or is_broadcast)


def read_candidates(entries: Iterable[Mapping[str, Any]]) -> list[RemoteCandidate]:
    """Return the useful candidates of a trickled batch."""
    texts = (entry.get("candidate") for entry in entries)
    parsed = (parse_candidate(text) for text in texts if isinstance(text, str))
    return [candidate for candidate in parsed if candidate is not None]


class EarlyCandidates:
    """Candidates that arrived before the offer they belong to."""

    def __init__(self, *, per_connection: int = 256, connections: int = 128) -> None:
        self._per_connection, self._connections = per_connection, connections
        self._waiting: OrderedDict[int, list[RemoteCandidate]] = OrderedDict()

    def keep(self, connection_id: int, candidates: Sequence[RemoteCandidate]) -> None:
        """Keep *candidates* for the next offer of *connection_id*.

        Past the bounds the oldest connection's, and of one connection the newest, are dropped.
        """
        waiting = self._waiting.setdefault(connection_id, [])
        self._waiting.move_to_end(connection_id)
        waiting.extend(candidates[: self._per_connection - len(waiting)])
        if len(self._waiting) > self._connections:
            self._waiting.popitem(last=False)

    def peek(self, connection_id: int) -> list[RemoteCandidate]:
        """Return what waits for *connection_id*."""
        return list(self._waiting.get(connection_id, ()))

    def take(self, connection_id: int, ufrag: str) -> list[RemoteCandidate]:
        """Return what waits for *connection_id* and fits *ufrag*; forget all of it."""
        waiting = self._waiting.pop(connection_id, [])
        return [candidate for candidate in waiting if candidate.ufrag in (None, ufrag)]

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()
