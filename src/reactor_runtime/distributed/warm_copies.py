"""WarmCopies: private copies of large buffers, in memory that has been written to before.

Fresh memory costs as much again as the copy: the kernel clears each page when it is first touched.
"""

import ctypes
import mmap
import weakref
from collections import deque
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_KEPT: Final = 3  # blocks that wait for the next copy
_PIECE: Final = 512 << 10  # bytes copied at once: both sides stay in the cache of a core


def copy_bytes(target: npt.NDArray[np.uint8], source: Any) -> None:
    """Copy a buffer of bytes to the start of *target*."""
    read = np.frombuffer(source, np.uint8)
    for start in range(0, read.size, _PIECE):
        stop = min(start + _PIECE, read.size)
        target[start:stop] = read[start:stop]


class WarmCopies:
    """Copies buffers; a copy's memory is used again once nothing refers to it."""

    def __init__(self) -> None:
        self._idle: deque[mmap.mmap] = deque(maxlen=_KEPT)

    def of(self, source: memoryview) -> Any:
        """Return a writable copy of *source* as a buffer of bytes."""
        size = source.nbytes
        block = self._take(size)
        owned = (ctypes.c_ubyte * size).from_buffer(block)
        weakref.finalize(owned, self._idle.append, block).atexit = False
        copy_bytes(np.frombuffer(memoryview(owned), np.uint8), source)
        return owned

    def _take(self, size: int) -> mmap.mmap:
        for _ in range(len(self._idle)):
            block = self._idle.popleft()
            if size <= len(block) <= 2 * size:
                return block
            self._idle.append(block)
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # a fork of this process has its own
        block = mmap.mmap(-1, max(size, mmap.PAGESIZE), flags=private)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            block.madvise(mmap.MADV_HUGEPAGE)
        return block
