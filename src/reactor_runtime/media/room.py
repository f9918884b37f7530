"""Room: how much the queue of a stream holds, and who waits for some."""

from collections.abc import Callable

from reactor_runtime.media.timeline import QueuedChunk, Timeline

_DEFAULT_FRAMES = 2
_SOUND_FRAME_S = 0.02  # what counts as a frame where a model makes only sound


class Room:
    """Two frames or one chunk, whichever is larger; or as many frames as the author says.

    Never less than one chunk. The frame on show counts no more: it has left the queue.

    Args:
        timeline: What is queued.
        bound: The author's number of frames, ``None`` for the default.
        has_video: Whether pictures are counted; else seconds of sound are.
    """

    def __init__(self, timeline: Timeline, *, bound: int | None, has_video: bool) -> None:
        self._timeline = timeline
        self._bound = bound or _DEFAULT_FRAMES
        self._has_video = has_video
        self._callbacks: list[Callable[[], None]] = []
        self._refused: int | None = None

    def free_at(self, frames: int, now: float, coming: int = 0, frame_s: float = 0.0) -> float:
        """Return when *frames* more frames fit, *now* if they do.

        Args:
            frames: What is to fit.
            now: The time.
            coming: Frames that will be queued before.
            frame_s: Seconds that each of those will be shown.
        """
        if self._has_video:
            allowed = max(self._bound - frames, 0)
            if coming <= allowed:
                return self._timeline.drained_at(allowed - coming, now)
            return self._timeline.end(now) + (coming - allowed - 1) * frame_s
        end = self._timeline.end(now) + coming * frame_s
        return max(now, end - self._bound * _SOUND_FRAME_S)

    def ask(self, frames: int, now: float) -> bool:
        """Return whether *frames* fit; if not, the callbacks fire once they do."""
        if self.free_at(frames, now) <= now:
            return True
        self._refused = frames
        return False

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever room may have appeared."""
        self._callbacks.append(callback)

    def announce(self, now: float) -> float | None:
        """Tell whoever was refused if there is room now, else return when to look again."""
        if self._refused is None:
            return None
        when = self.free_at(self._refused, now)
        if when > now:
            return when
        self.tell()
        return None

    def tell(self) -> None:
        """Call every callback."""
        self._refused = None
        for callback in self._callbacks:
            callback()

    def horizon(self, parts: QueuedChunk) -> float:
        """Return the seconds that a queue lasts which is full of chunks like *parts*."""
        frames = max(1, parts.frames)
        return parts.duration * (1 + max(self._bound, frames) / frames)
