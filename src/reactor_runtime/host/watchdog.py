"""Watchdog: notices, from another thread's loop, a turn that takes too long."""

import asyncio
from collections.abc import Callable

from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.turn_watch import TurnWatch


class Watchdog:
    """Looks a few times per deadline, costs the model next to nothing, and barks once.

    Two things are too long: a turn that is busy, and a model's loop that answers no ping, which is
    how a body without turns gets stuck.

    Args:
        watch: How long a turn has been busy.
        settings: The deadlines.
        ping: Calls what it is given on the model's loop, soon.
        on_timeout: Called on the loop of ``start`` with the seconds the turn has taken.
    """

    def __init__(
        self,
        watch: TurnWatch,
        settings: HostSettings,
        *,
        ping: Callable[[Callable[[], None]], None],
        on_timeout: Callable[[float], None],
    ) -> None:
        self._watch, self._settings = watch, settings
        self._ping, self._on_timeout = ping, on_timeout
        self._timer: asyncio.TimerHandle | None = None
        self._asked_at: float | None = None

    def start(self) -> None:
        """Look from now on, from the running loop."""
        limits = self._settings.turn_timeout_s, self._settings.first_turn_timeout_s
        shortest = min((limit for limit in limits if limit), default=0.0)
        if shortest:
            self._look(min(1.0, shortest / 8))

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, period_s: float) -> None:
        taken_s = max(self._watch.busy_s, self._silent_s())
        settings, is_first = self._settings, not self._watch.first_step_is_over
        limit_s = settings.first_turn_timeout_s if is_first else settings.turn_timeout_s
        if limit_s and taken_s > limit_s:
            self._on_timeout(taken_s)
            return
        self._timer = asyncio.get_running_loop().call_later(period_s, self._look, period_s)

    def _silent_s(self) -> float:
        """Return how long the last ping has been unanswered; send another when it is not."""
        if self._asked_at is not None:
            return self._watch.now() - self._asked_at
        self._asked_at = self._watch.now()
        self._ping(self._hear)
        return 0.0

    def _hear(self) -> None:
        self._asked_at = None
