"""SampleLine: sound at its place in time, silence where there is none.

Positions count samples of 48 kHz from the start of the stream. A chunk that should begin within
3 ms of where the one before ends is joined to it: such a gap would be a click, not a pause.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

RATE = 48_000
CHANNELS = 2
_JOIN_SAMPLES = RATE * 3 // 1000


class SampleLine:
    """The sound of one track, int16 ``(samples, 2)``. Not for two threads at a time.

    Args:
        delay: Samples by which everything lies later than it was put.
    """

    def __init__(self, delay: int = 0) -> None:
        self._delay = delay
        self._blocks: deque[tuple[int, NDArray[np.int16]]] = deque()
        self._end = -RATE  # nothing that could be joined
        self._taken = 0

    def append(self, position: int, samples: NDArray[np.int16]) -> None:
        """Put *samples* at *position*, or behind what is there or was taken already."""
        if not len(samples):
            return
        position += self._delay
        start = self._end if abs(position - self._end) <= _JOIN_SAMPLES else position
        start = max(start, self._end, self._taken)
        self._blocks.append((start, samples))
        self._end = start + len(samples)

    def take(self, position: int, count: int) -> NDArray[np.int16]:
        """Remove and return *count* samples from *position* on; what lies before is dropped."""
        out = np.zeros((count, CHANNELS), np.int16)
        stop = position + count
        while self._blocks and self._blocks[0][0] < stop:
            start, samples = self._blocks.popleft()
            first, last = max(start, position), min(start + len(samples), stop)
            if first < last:
                out[first - position : last - position] = samples[first - start : last - start]
            if start + len(samples) > stop:
                self._blocks.appendleft((stop, samples[stop - start :]))
        self._taken = max(self._taken, stop)
        return out

    def drop_before(self, position: int) -> None:
        """Forget sound nobody took."""
        while self._blocks and self._blocks[0][0] + len(self._blocks[0][1]) <= position:
            self._blocks.popleft()

    def cut(self, position: int) -> None:
        """Drop everything from *position* on."""
        kept = [(at, some[: position - at]) for at, some in self._blocks if at < position]
        self._blocks = deque(kept)
        self._end = min(self._end, position)
