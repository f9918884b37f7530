"""EventLog: what happened to the session, for operators who watch or come late.

Events are numbered from 1. A fixed number is retained; a reader who falls behind them loses the
oldest and sees it as a gap in the numbers. Readers cost no memory: each is only a number.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reactor_runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """One thing that happened.

    Attributes:
        seq: Its number.
        payload: What operators read, ready for JSON.
    """

    seq: int
    payload: Mapping[str, Any] = field(default_factory=dict)


class EventLog:
    """Keeps the newest events and hands them to any number of readers. Lives on the event loop."""

    def __init__(self, clock: Clock, retained: int = 4096) -> None:
        self._clock = clock
        self._ring: list[LoggedEvent | None] = [None] * max(1, retained)
        self._last_seq = 0
        self._news: asyncio.Event | None = None
        self._is_closed = False

    @property
    def last_seq(self) -> int:
        """Number of the newest event, 0 before the first."""
        return self._last_seq

    def append(self, event: str, from_state: str, to_state: str, **detail: Any) -> LoggedEvent:
        """Add one event; *from_state* equals *to_state* where nothing moved."""
        self._last_seq += 1
        logged = LoggedEvent(
            seq=self._last_seq,
            payload={
                "type": "transition",
                "event": event,
                "from": from_state,
                "to": to_state,
                "ts": int(self._clock.wall() * 1000),
                "detail": detail,
            },
        )
        self._ring[self._last_seq % len(self._ring)] = logged
        self._wake()
        return logged

    def subscribe(self, since: int | None = None) -> AsyncIterator[LoggedEvent]:
        """Yield retained events numbered above *since*, then new ones, until ``close``.

        ``None`` yields new ones only. A number from the future means the newest known.
        """
        cursor = self._last_seq if since is None else min(max(0, since), self._last_seq)
        return self._follow(cursor)

    def close(self) -> None:
        """End every reader once it has read what there is."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        if self._news is not None:
            self._news.set()
            self._news = None

    async def _follow(self, cursor: int) -> AsyncIterator[LoggedEvent]:
        while True:
            while cursor < self._last_seq:
                cursor = max(cursor, self._last_seq - len(self._ring)) + 1
                logged = self._ring[cursor % len(self._ring)]
                if logged is not None:
                    yield logged
            if self._is_closed:
                return
            if self._news is None:
                self._news = asyncio.Event()
            await self._news.wait()
