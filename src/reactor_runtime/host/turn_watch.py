"""TurnWatch: how long the model has been busy with one turn, waits for others not counted."""

import sys
import threading
import traceback
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
        self.waited_s = 0.0
        self.first_step_is_over = False

    def now(self) -> float:
        """Return monotonic seconds."""
        return self._clock.now()

    def begin(self) -> None:
        """Note that a turn has something to do."""
        self.waited_s = 0.0
        self._busy_from = self._clock.now()

    def end(self) -> None:
        """Note that nothing runs."""
        self._busy_from = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Do not count what happens inside: a wait for room or for input."""
        began, was_busy = self._clock.now(), self._busy_from is not None
        self._busy_from = None
        try:
            yield
        finally:
            now = self._clock.now()
            self.waited_s += now - began
            if was_busy:
                self._busy_from = now

    @property
    def busy_s(self) -> float:
        """Seconds since the turn began, or since it last waited; 0 when nothing runs."""
        since = self._busy_from
        return 0.0 if since is None else self._clock.now() - since


def thread_stacks() -> dict[str, str]:
    """Return where every thread of the process is right now, by the threads' names."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        names.get(ident, str(ident)): "".join(traceback.format_stack(frame))
        for ident, frame in sys._current_frames().items()
    }
