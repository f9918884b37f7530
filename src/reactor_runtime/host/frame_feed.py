"""FrameFeed: what clients sent and the ranks have not been given yet."""

from collections.abc import Callable, Sequence

from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.rank_messages import TrackFrames
from reactor_runtime.model.input_buffer import InputBuffer, InputFrame
from reactor_runtime.model.tracks import Track, TrackDirection


class FrameFeed:
    """Bounded like the ranks' buffers, so that what is dropped is dropped once, for all of them.

    Args:
        tracks: What the model declares.
        is_expected: Whether frames are of use now: whether somebody is there, as far as is known.
    """

    def __init__(self, tracks: Sequence[Track], is_expected: Callable[[], bool]) -> None:
        self._tracks = [track for track in tracks if track.direction is TrackDirection.IN]
        self._is_expected = is_expected
        self._held = self._empty()

    def push(self, track: str, frame: InputFrame) -> None:
        """Hold *frame*, from any thread; of an unknown track, or from nobody, drop it."""
        # Look up first, then ask: a frame of a session that ends meanwhile goes with it.
        held = self._held.get(track)
        if held is not None and self._is_expected():
            held.push(frame)

    def take(self, gate: Gate) -> tuple[TrackFrames, ...]:
        """Return, and forget, what is held, if *gate* is open."""
        # Look up first, then ask: what comes once everybody has left is for whoever comes next.
        all_held, given = self._held, list[TrackFrames]()
        if not gate.is_open:
            return ()
        for name, held in all_held.items():
            if held.available:
                batch = InputBuffer(held.track)
                held.move_to(batch)
                frames = batch.try_read(batch.available) or []
                given.append(TrackFrames(track=name, dropped=batch.dropped, frames=tuple(frames)))
        return tuple(given)

    def forget(self) -> None:
        """Forget what is held, from any thread; it is not for whoever comes next."""
        self._held = self._empty()

    def _empty(self) -> dict[str, InputBuffer]:
        return {track.name: InputBuffer(track) for track in self._tracks}
