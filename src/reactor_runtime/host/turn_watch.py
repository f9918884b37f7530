"""TurnWatch: how long the model has been busy with one turn, waits for others not counted."""

from collections.abc import Iterator
from contextlib import contextmanager

from reactor_runtime.clock import Clock


class TurnWatch:
    """Started and ended by the model's thread, looked at by another.

    Attributes:
        waited_s: Seconds waited since it was started.
        first_step_is_over: The first step, which may compile, is through.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._busy_from: float | None = None
        self._idle_from = 0.0
        self._turn = self._waits = 0
        self.waited_s = 0.0
        self.first_step_is_over = False

    def now(self) -> float:
        """Return monotonic seconds."""
        return self._clock.now()

    def begin(self) -> None:
        """Note that a turn has something to do."""
        self.waited_s = 0.0
        self._change_turn(busy_from=self._clock.now())

    def end(self) -> None:
        """Note that nothing runs."""
        self._change_turn(busy_from=None)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Do not count what happens inside: a wait for room or input, one of several perhaps."""
        if self._busy_from is None and not self._waits:  # outside a turn
            yield
            return
        turn = self._turn
        if not self._waits:
            self._idle_from, self._busy_from = self._clock.now(), None
        self._waits += 1
        try:
            yield
        finally:
            if turn == self._turn:  # else it has outlived its turn
                self._waits -= 1
                if not self._waits:
                    self._busy_from = self._clock.now()
                    self.waited_s += self._busy_from - self._idle_from

    def _change_turn(self, *, busy_from: float | None) -> None:
        self._turn, self._waits, self._busy_from = self._turn + 1, 0, busy_from

    @property
    def busy_s(self) -> float:
        """Seconds since the turn began, or since it last waited; 0 when nothing runs."""
        since = self._busy_from
        return 0.0 if since is None else self._clock.now() - since
