"""Patience: how long a connection may keep the server waiting, and how many may at once.

A caller who opens connections and says nothing, sends a request's head byte by byte, or asks and
does not read the answer, would hold one of the process's descriptors each for ever.
"""

import asyncio
import resource
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_LIMIT_S = 10.0
READ_LIMIT_S = 30.0
MAX_WAITING = 256
MAX_ACCEPTED = 64


class Patience:
    """Who keeps the server waiting, the longest first.

    Args:
        limit_s: Seconds until one is given up.
        most: How many may wait; one more, and the longest waiting is given up.
    """

    def __init__(self, limit_s: float, most: int | None = None) -> None:
        self._limit_s, self._most = limit_s, most
        self._waiting: dict[object, tuple[float, Callable[[], object]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, who: object, give_up: Callable[[], object]) -> None:
        """Let *who* wait from now on; *give_up* is called when it has been long enough."""
        self._waiting.pop(who, None)
        self._waiting[who] = (asyncio.get_running_loop().time() + self._limit_s, give_up)
        if self._most is not None and len(self._waiting) > self._most:
            self._give_up_first()
        self._watch()

    def end(self, who: object) -> None:
        """Let *who* wait no longer."""
        self._waiting.pop(who, None)
        if not self._waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        if self._timer is None and self._waiting:
            due, _ = next(iter(self._waiting.values()))
            self._timer = asyncio.get_running_loop().call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        while self._waiting and next(iter(self._waiting.values()))[0] <= now:
            self._give_up_first()
        self._watch()

    def _give_up_first(self) -> None:
        _, give_up = self._waiting.pop(next(iter(self._waiting)))
        give_up()


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 with a limit on the time until a request's head, and until an answer is read.

    Attributes:
        heads: Connections without a request, since they opened or were last answered.
        readers: Those whose answer waits to be read.
    """

    heads: ClassVar[Patience]
    readers: ClassVar[Patience]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.heads.begin(self, transport.close)

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request; the whole head ends the wait."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.heads.end(self)

    def on_response_complete(self) -> None:
        """Wait for the next request, which may be here already."""
        self.heads.begin(self, self.transport.close)
        super().on_response_complete()
        if not self.cycle.response_complete:
            self.heads.end(self)

    def pause_writing(self) -> None:
        """Wait for the caller to read."""
        super().pause_writing()
        self.readers.begin(self, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that the caller reads."""
        super().resume_writing()
        self.readers.end(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self.heads.end(self)
        self.readers.end(self)
        super().connection_lost(exc)


def most_waiting() -> int:
    """Return how many idle connections leave descriptors enough for those that are at work."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return MAX_WAITING
    return max(1, min(MAX_WAITING, allowed // 4))


def accepted_at_once() -> int:
    """Return how many connections may be accepted before the limit on idle ones can act."""
    return max(1, min(MAX_ACCEPTED, most_waiting() // 2))


def impatient_protocol(
    head_limit_s: float = HEAD_LIMIT_S,
    read_limit_s: float = READ_LIMIT_S,
    max_waiting: int | None = None,
) -> type[ImpatientProtocol]:
    """Return the protocol of one server, whose connections share the limits."""
    limits: dict[str, Any] = {
        "heads": Patience(head_limit_s, max_waiting or most_waiting()),
        "readers": Patience(read_limit_s),
    }
    return type("ServerProtocol", (ImpatientProtocol,), limits)
