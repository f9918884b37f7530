"""SessionCourse: the state a session is in, who is told when it moves, and the record of it."""

import asyncio
from collections.abc import Callable
from typing import Any

from reactor_runtime.session.event_log import EventLog
from reactor_runtime.session.session_state import SessionEvent, SessionState, next_state
from reactor_runtime.session.wiring import Wiring


class SessionCourse:
    """Moves through the table of ``session_state`` and logs every move.

    Args:
        events: Where moves are recorded.
        wiring: Time and figures.
    """

    def __init__(self, events: EventLog, wiring: Wiring) -> None:
        self._events = events
        self._clock, self._metrics = wiring.clock, wiring.metrics
        self._state = SessionState.CREATED
        self._entered_at = wiring.clock.now()
        self._moved = asyncio.Event()
        self._watchers: list[Callable[[SessionState], None]] = []
        self._show()

    @property
    def state(self) -> SessionState:
        """Where the session is."""
        return self._state

    @property
    def age_s(self) -> float:
        """Seconds since it came into this state from another."""
        return self._clock.now() - self._entered_at

    def watch(self, watcher: Callable[[SessionState], None]) -> None:
        """Call *watcher* with the new state after each change of state."""
        self._watchers.append(watcher)

    def move(self, event: SessionEvent, **detail: Any) -> None:
        """Take *event*, record it with *detail*.

        Raises:
            IllegalTransitionError: It has no place in this state; nothing has changed.
        """
        before, self._state = self._state, next_state(self._state, event)
        self._events.append(event.public_name, before, self._state, **detail)
        if before is not self._state:
            self._entered_at = self._clock.now()
            self._show()
            self._moved.set()
            self._moved = asyncio.Event()
            for watcher in self._watchers:
                watcher(self._state)

    def note(self, event: str, **detail: Any) -> None:
        """Record something that moves nothing."""
        self._events.append(event, self._state, self._state, **detail)

    async def reach(self, state: SessionState, timeout_s: float) -> bool:
        """Wait until the session is in *state*; ``False`` when it is not within *timeout_s*."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._state is not state:
                    await self._moved.wait()
        except TimeoutError:
            return self._state is state
        return True

    def _show(self) -> None:
        for state in SessionState:
            self._metrics.session_state.labels(state.value).set(state is self._state)
        is_serving = self._state not in (SessionState.CREATED, SessionState.TERMINATED)
        self._metrics.ready.set(is_serving)
