"""Tape: what waits between the media threads and the recorder's, within bounds.

The media threads never wait: a picture that finds no room is left out of the recording.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.picture import Picture
from reactor_runtime.recording.note import Note
from reactor_runtime.recording.recording import Recording

_MAX_SOUNDS = 1000  # of 20 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureShown:
    """A picture, at its recorded second and for how long, and what was said of it."""

    picture: Picture
    at_s: float
    length_s: float
    notes: Sequence[Note] = ()

    @property
    def size_bytes(self) -> int:
        """What it takes in memory."""
        width, height = self.picture.size
        return width * height * 3 // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundHeard:
    """Sound, int16 ``(n, 2)`` at 48 kHz, the recorded second at which it begins, and its notes."""

    samples: NDArray[np.int16]
    at_s: float
    notes: Sequence[Note] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A session has begun: what follows belongs to *recording*."""

    recording: Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Rested:
    """Nobody watches any more: the take ends at this recorded second."""

    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The session is over: its recording ends at this recorded second."""

    at_s: float


Item = PictureShown | SoundHeard | Begun | Rested | Ended


class Tape:
    """An ordered queue for one reader.

    Args:
        max_bytes: Bytes of pictures that may wait.
    """

    def __init__(self, max_bytes: int) -> None:
        self._changed = threading.Condition()
        self._items: deque[Item] = deque()
        self._max_bytes = max_bytes
        self._picture_bytes = self._sounds = 0
        self._is_closed = False

    def put(self, item: Item) -> bool:
        """Append *item*; ``False`` where there is no room for it, or nobody will read it."""
        with self._changed:
            if self._is_closed or not self._fits(item):
                return False
            self._count(item, 1)
            self._items.append(item)
            self._changed.notify()
            return True

    def take(self, timeout_s: float | None) -> Item | None:
        """Remove and return the next item; ``None`` after *timeout_s*, or when it is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._is_closed, timeout_s)
            if self._is_closed or not self._items:
                return None
            item = self._items.popleft()
            self._count(item, -1)
            return item

    def close(self) -> None:
        """Forget what waits; take nothing more. Idempotent."""
        with self._changed:
            self._is_closed = True
            self._items.clear()
            self._changed.notify()

    @property
    def is_closed(self) -> bool:
        """Whether nothing more will come."""
        return self._is_closed

    def _fits(self, item: Item) -> bool:
        if isinstance(item, PictureShown):
            return not self._picture_bytes or (
                self._picture_bytes + item.size_bytes <= self._max_bytes
            )
        return not isinstance(item, SoundHeard) or self._sounds < _MAX_SOUNDS

    def _count(self, item: Item, change: int) -> None:
        if isinstance(item, PictureShown):
            self._picture_bytes += change * item.size_bytes
        elif isinstance(item, SoundHeard):
            self._sounds += change
