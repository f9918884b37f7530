"""InputBuffer: what arrived on one inbound track and was not read yet.

Frames are pushed from any thread and read from the model's; nothing here needs a runtime or a
loop, so an author's own test may push and read. Who pushes, and when, is the host's business.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reactor_runtime.errors import BufferClosed
from reactor_runtime.model.tracks import Track, TrackKind
from reactor_runtime.model.waiters import Waiters

DEFAULT_FRAMES = 128


@dataclass(frozen=True, slots=True, eq=False)
class InputFrame:
    """One inbound picture or stretch of sound.

    Attributes:
        data: uint8 RGB ``(H, W, 3)``, or int16 ``(channels, samples)`` at the track's rate.
        metadata: What the sender attached, if anything.
        capture_time_us: Microseconds on the sender's clock, where it is known.
    """

    data: Any
    metadata: Any = None
    capture_time_us: int | None = None


class ReadMode(StrEnum):
    """Which frames a read takes."""

    FIFO = "fifo"  # the oldest, in order
    LATEST = "latest"  # the newest; older ones are skipped


class InputBuffer:
    """A bounded queue of inbound frames; when full, the oldest is dropped and counted.

    It holds 128 frames, or the track's ``buffer_seconds``: of sound by its samples, of pictures by
    their capture times.

    Attributes:
        track: The track it belongs to; ``None`` on a bare buffer.
        total_received: Frames pushed since the session's first client came.
        dropped: How many of them were pushed out unread because the buffer was full.
        skipped: How many of them a read of the newest passed over.
        while_starved: Entered while a read waits; a host then delivers what it holds back.
        time_out: Makes the bound of a read of so many seconds; ranks have theirs from the host.
    """

    def __init__(self, track: Track | None = None) -> None:
        self.track = track
        self.total_received: int = 0
        self.dropped: int = 0
        self.skipped: int = 0
        self.while_starved: Callable[[], AbstractContextManager[None]] = nullcontext
        self.time_out: Callable[[float | None], AbstractAsyncContextManager[Any]] = asyncio.timeout
        self._frames: deque[InputFrame] = deque()
        self._readers = Waiters()
        self._closed = False
        self._lock = threading.Lock()

    @property
    def available(self) -> int:
        """Frames that can be read now."""
        return len(self._frames)

    @property
    def closed(self) -> bool:
        """Whether no further frame will come."""
        return self._closed

    @property
    def is_awaited(self) -> bool:
        """Whether a read waits."""
        return bool(self._readers)

    def try_read(self, n: int = 1, mode: ReadMode = ReadMode.LATEST) -> list[InputFrame] | None:
        """Return *n* frames, oldest first, or ``None`` when there are not so many.

        Raises:
            BufferClosed: There are not so many, and no further one will come.
            ValueError: The buffer never holds so many.
        """
        if n > DEFAULT_FRAMES and self._seconds is None:
            raise ValueError(f"{n} frames are more than the {DEFAULT_FRAMES} an input buffer holds")
        with self._lock:
            return self._take(n, ReadMode(mode)) if n > 0 else None

    async def read(
        self, n: int = 1, timeout: float | None = None, mode: ReadMode = ReadMode.LATEST
    ) -> list[InputFrame]:
        """Wait until there are *n* frames and return them, oldest first.

        Args:
            n: How many.
            timeout: Seconds to wait at most; ``None`` waits until the buffer is closed.
            mode: Which ones, when there are more.

        Raises:
            BufferClosed: The buffer was closed first.
            TimeoutError: *timeout* seconds passed first.
            ValueError: *n* is not positive, or more than the buffer ever holds.
        """
        if n < 1:
            raise ValueError(f"a read waits for at least one frame, not {n}")
        async with self.time_out(timeout):
            while True:
                with self._readers.place() as arrival:
                    if (frames := self.try_read(n, mode)) is not None:
                        return frames
                    with self.while_starved():
                        await arrival

    def push(self, frame: InputFrame) -> None:
        """Append *frame*, dropping the oldest beyond the bound; nothing happens once closed."""
        with self._lock:
            if self._closed:
                return
            self._frames.append(frame)
            self.total_received += 1
            while self._is_over():
                self._frames.popleft()
                self.dropped += 1
        self._readers.wake()

    def move_to(self, other: "InputBuffer") -> None:
        """Push every frame to *other*, which counts those dropped here as its own."""
        with self._lock:
            frames, self._frames = self._frames, deque()
            dropped, self.dropped = self.dropped, 0
        with other._lock:
            other.total_received += dropped
            other.dropped += dropped
        for frame in frames:
            other.push(frame)

    def clear(self) -> None:
        """Forget the frames not read yet."""
        with self._lock:
            self._frames.clear()

    def close(self) -> None:
        """Forget the frames and end every waiting read with ``BufferClosed``. Idempotent."""
        with self._lock:
            self._closed = True
            self._frames.clear()
        self._readers.wake()

    def reopen(self) -> None:
        """Start afresh: empty, counting from zero, open."""
        with self._lock:
            self._closed = False
            self._frames.clear()
            self.total_received = self.dropped = self.skipped = 0

    def _take(self, n: int, mode: ReadMode) -> list[InputFrame] | None:
        frames = self._frames
        if not frames or len(frames) < n:
            if self._closed:
                raise BufferClosed(self.track.name if self.track else "")
            return None
        if mode is ReadMode.LATEST:
            while len(frames) > n:
                frames.popleft()
                self.skipped += 1
        return [frames.popleft() for _ in range(n)]

    def _is_over(self) -> bool:
        first, last = self._frames[0], self._frames[-1]
        if first is last:
            return False
        if self._seconds is not None and self.track is not None:
            if self.track.kind is TrackKind.AUDIO:
                samples: int = sum(frame.data.shape[-1] for frame in self._frames)
                return samples > self._seconds * (self.track.sample_rate or 1)
            if first.capture_time_us is not None and last.capture_time_us is not None:
                return last.capture_time_us - first.capture_time_us > self._seconds * 1e6
        return len(self._frames) > DEFAULT_FRAMES

    @property
    def _seconds(self) -> float | None:
        return self.track.buffer_seconds if self.track else None
