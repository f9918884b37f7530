"""Restarts: how often lost ranks are started again, and after how long."""

from typing import Final

from reactor_runtime.clock import Clock

DELAYS_S: Final = (1.0, 2.0, 4.0)
WINDOW_S: Final = 600.0


class Restarts:
    """Counts restarts within ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: list[float] = []

    def next_delay_s(self) -> float | None:
        """Count a restart and return the seconds to wait before it; ``None`` for no further one."""
        now = self._clock.now()
        self._tries = [when for when in self._tries if now - when < WINDOW_S]
        if len(self._tries) >= len(DELAYS_S):
            return None
        self._tries.append(now)
        return DELAYS_S[len(self._tries) - 1]
