"""MediaStream: what a session and its outlet need of the output media of a model."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from reactor_runtime.host.host_outlet import Chunk


class MediaStream(Protocol):
    """Paces what a model emits; ``LiveStream`` encodes it too.

    All but ``reset`` and ``stats`` may be called from any thread.
    """

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Queue *chunk*, unless it is not *wanted* by then; see ``HostOutlet.put``.

        On return its arrays may be overwritten.
        """
        ...

    def note_dropped(self, chunk: Chunk) -> None:
        """Count *chunk*, which found no room and whose author will not wait."""
        ...

    def flush(self) -> None:
        """Drop everything queued and cut to black."""
        ...

    def reset(self) -> None:
        """Forget the session."""
        ...

    def set_fps(self, fps: float) -> None:
        """Pin the rate (frames per second) and re-pace what is queued."""
        ...

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Return the monotonic time from which a step making *frames* may start.

        *coming* frames are on their way into the queue. ``None``: it has no room; the ``on_room``
        callbacks fire when it may have.
        """
        ...

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        ...

    def plays_until(self) -> float:
        """Return the monotonic time at which everything queued will have been shown."""
        ...

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback*, from any thread, whenever room may have appeared."""
        ...

    def stats(self) -> Mapping[str, Any]:
        """Return figures for operators."""
        ...
