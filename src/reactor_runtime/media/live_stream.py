"""LiveStream: everything between a model's chunks and encoded frames, for all its output tracks.

One timeline, one pacer, one encoder per (track, codec) while somebody needs it, one delivery call
per encoded frame on the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.media.chunk import Chunk
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.subscription import Subscription
from reactor_runtime.model.tracks import Track

FrameSink = Callable[[EncodedFrame], None]


class LiveStream:
    """Paces and encodes the output tracks of one model, once, for any number of viewers.

    ``put``, ``flush``, ``set_fps``, ``step_at`` and ``has_room`` may be called from any thread and
    never wait for a client or an encoder; ``subscribe`` and what it returns belong to the event
    loop.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        settings: MediaSettings,
        clock: Clock,
        metrics: object | None = None,
    ) -> None:
        raise NotImplementedError

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the media threads; encoded frames are delivered on *loop*."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the media threads within a bound and close every encoder. Idempotent."""
        raise NotImplementedError

    def put(self, chunk: Chunk) -> None:
        """Convert *chunk* and queue it. On return its arrays may be overwritten."""
        raise NotImplementedError

    def flush(self) -> None:
        """Drop everything queued and cut every video track to black at once."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget the session: queue, rate and last pictures go, nothing is shown."""
        raise NotImplementedError

    def set_fps(self, fps: float) -> None:
        """Pin the rate (frames per second) and re-pace what is queued."""
        raise NotImplementedError

    def step_at(self, frames: int) -> float | None:
        """Return the monotonic time from which a step making *frames* may start.

        ``None``: the queue has no room; the ``on_room`` callbacks fire when it may have.
        """
        raise NotImplementedError

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        raise NotImplementedError

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback*, from any thread, whenever room may have appeared."""
        raise NotImplementedError

    def subscribe(self, track: str, codec: Codec, sink: FrameSink) -> Subscription:
        """Send the encoded frames of *track* to *sink*, on the event loop, from a key frame on.

        The first one is a key frame made at once from the last picture, if there is one.

        Raises:
            TrackError: There is no output track of that name, or *codec* cannot carry it.
        """
        raise NotImplementedError

    def stats(self) -> Mapping[str, Any]:
        """Return figures for operators: per track fps, bitrate, queue, key frames, encode time."""
        raise NotImplementedError
