"""StepQueue: the steps that wait to be encoded, within a bound of bytes."""

import threading
from collections import deque

from reactor_runtime.recording.step_film import FinishedStep


class StepQueue:
    """Filled by any thread, emptied by one; nobody who fills it waits.

    Args:
        max_bytes: Bytes that may wait; a single step may have more.
    """

    def __init__(self, max_bytes: int) -> None:
        self.is_closed = False
        self._max_bytes, self._bytes = max_bytes, 0
        self._steps: deque[FinishedStep] = deque()
        self._news = threading.Condition()

    def put(self, step: FinishedStep) -> bool:
        """Append *step*; ``False`` where there is no room for it."""
        size = step.size_bytes
        with self._news:
            if self._steps and self._bytes + size > self._max_bytes:
                return False
            self._steps.append(step)
            self._bytes += size
            self._news.notify_all()
        return True

    def take(self, patience_s: float) -> FinishedStep | None:
        """Remove and return the oldest step; ``None`` when none has come, or it is closed."""
        with self._news:
            self._news.wait_for(lambda: self.is_closed or self._steps, patience_s)
            if self.is_closed or not self._steps:
                return None
            step = self._steps.popleft()
            self._bytes -= step.size_bytes
            return step

    def close(self) -> None:
        """Give nothing out any more."""
        with self._news:
            self.is_closed = True
            self._news.notify_all()
