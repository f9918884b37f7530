"""RecordedTime: seconds of a recording, which pass only while somebody watches.

stream's time   ─ open ─┬─ first picture ───── rest ─┬─ open ─┬─ next picture ────►
recorded                0 ──────────────────────► 13.2      13.2 ─────────────────►
"""

import threading


class RecordedTime:
    """Maps monotonic seconds to recorded ones. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._origin: float | None = None
        self._passed = 0.0
        self._has_begun = False

    @property
    def is_open(self) -> bool:
        """Whether anything is recorded now."""
        return self._is_open

    @property
    def has_begun(self) -> bool:
        """Whether anything was ever recorded."""
        return self._has_begun

    def open(self) -> None:
        """Let it run from what is shown next."""
        self._is_open = True

    def run_from(self, when: float) -> None:
        """Let it run from *when* on, if it is open and does not run."""
        with self._lock:
            if self._is_open and self._origin is None:
                self._origin = when - self._passed
                self._has_begun = True

    def at(self, when: float) -> float | None:
        """Return the recorded second of *when*, ``None`` while nothing is recorded."""
        with self._lock:
            return None if self._origin is None else when - self._origin

    def now(self, when: float) -> float:
        """Return how many seconds have been recorded by *when*."""
        with self._lock:
            return self._passed if self._origin is None else max(self._passed, when - self._origin)

    def shut(self) -> None:
        """Take nothing more; the seconds pass on until the next rest."""
        self._is_open = False

    def rest(self, when: float) -> float:
        """Stop at *when*; returns how many seconds have been recorded."""
        with self._lock:
            self._is_open = False
            if self._origin is not None:
                self._passed, self._origin = max(self._passed, when - self._origin), None
            return self._passed
