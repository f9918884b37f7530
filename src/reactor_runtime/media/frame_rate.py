"""FrameRate: how fast pictures are shown, pinned by the author or measured from the steps."""

from collections import deque
from statistics import median

_REMEMBERED_CHUNKS = 5


class FrameRate:
    """The rate of one stream in frames per second.

    A chunk's own pin wins, then the rate set for the stream, then the median of what the last five
    chunks measured; no rate exceeds *limit*.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._pinned: float | None = None
        self._measured: deque[float] = deque(maxlen=_REMEMBERED_CHUNKS)

    @property
    def fps(self) -> float:
        """Frames per second now; the limit while nothing is known."""
        if self._pinned is not None:
            return min(self._pinned, self._limit)
        return min(median(self._measured), self._limit) if self._measured else self._limit

    def pin(self, fps: float) -> None:
        """Fix the rate.

        Raises:
            ValueError: *fps* is not a positive number.
        """
        if not 0 < fps < float("inf"):
            raise ValueError(f"a frame rate is a positive number, not {fps!r}")
        self._pinned = float(fps)

    def note(self, frames: int, compute_s: float, pinned_fps: float | None) -> None:
        """Take in one chunk of *frames* that stands for *compute_s* seconds of compute."""
        if pinned_fps is not None:
            self.pin(pinned_fps)
        elif frames:
            self._measured.append(frames / compute_s if compute_s > 0 else self._limit)

    def forget(self) -> None:
        """Start over, as for a new session."""
        self._pinned = None
        self._measured.clear()
