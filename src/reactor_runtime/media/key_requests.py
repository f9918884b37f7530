"""KeyRequests: who asked for a key frame, and when the next one is due.

| asked by | served |
|---|---|
| a join, a resume, a cut queue (*urgent*) | at once, merged within 100 ms; per viewer each 0.5 s |
| PLI, FIR | per viewer once in 2 s, doubling to 8 s while it repeats; per stream once a second |

A request that must wait is kept; any key frame serves everyone who asked before it.
"""

from collections.abc import Hashable
from dataclasses import dataclass

_NEVER = float("-inf")
_MERGE_S = 0.1
_URGENT_AGAIN_S = 0.5
_STREAM_S = 1.0
_FIRST_INTERVAL_S = 2.0
_LAST_INTERVAL_S = 8.0


@dataclass(slots=True)
class _Asker:
    """How often one viewer is served."""

    served_at: float = _NEVER
    urgent_at: float = _NEVER
    interval_s: float = _FIRST_INTERVAL_S


class KeyRequests:
    """The pending requests of one encoder. Pure: time comes in as an argument."""

    def __init__(self) -> None:
        self._askers: dict[Hashable, _Asker] = {}
        self._pending: dict[Hashable, float] = {}
        self._reported: set[Hashable] = set()
        self._last_key = _NEVER

    @property
    def due(self) -> float | None:
        """Monotonic seconds at which a key frame is owed, ``None`` when nobody asked."""
        return min(self._pending.values(), default=None)

    def ask(self, who: Hashable, now: float, *, urgent: bool) -> None:
        """Note a request of *who*."""
        asker = self._askers.setdefault(who, _Asker())
        if urgent:
            when = max(now, self._last_key + _MERGE_S, asker.urgent_at + _URGENT_AGAIN_S)
        else:
            when = max(now, self._last_key + _STREAM_S, asker.served_at + asker.interval_s)
            self._reported.add(who)
        self._pending[who] = min(when, self._pending.get(who, when))

    def made(self, now: float) -> None:
        """Note a key frame: everybody who asked is served."""
        for who in self._pending:
            asker = self._askers[who]
            if who in self._reported:
                repeats = now - asker.served_at < 2 * asker.interval_s
                longer = min(2 * asker.interval_s, _LAST_INTERVAL_S)
                asker.interval_s = longer if repeats else _FIRST_INTERVAL_S
                asker.served_at = now
            else:
                asker.urgent_at = now
        self._pending.clear()
        self._reported.clear()
        self._last_key = now

    def settle(self, who: Hashable) -> None:
        """Withdraw the request of *who*: a key frame that was under way has reached it."""
        self._pending.pop(who, None)
        self._reported.discard(who)

    def forget(self, who: Hashable) -> None:
        """Forget a viewer that left."""
        self.settle(who)
        self._askers.pop(who, None)
