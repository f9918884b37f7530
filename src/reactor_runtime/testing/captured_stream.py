"""CapturedStream: the output media of a model under test, paced as when it is served.

    model's thread                        the test's loop
    put ─► copy ─► Pacer ──────────────► what is due at the fake clock's time, as arrays

Where a live stream has lanes and encoders this one has a test that moves the clock.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import ChunkOrigin, Pacer
from reactor_runtime.media.picture import Picture
from reactor_runtime.media.sample_line import SampleLine
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.testing.host_turn import HostTurn
from reactor_runtime.testing.received import Frame


class CapturedStream:
    """Implements ``MediaStream``: a real pacer, a fake clock, and the arrays as they were emitted.

    Args:
        tracks: The model's tracks; those that flow out count.
        settings: Limits on rate and queue.
        clock: The time, which the test moves.
        turn: What the host waits for.
        on_news: Called, from any thread, whenever there may be something to do.

    Attributes:
        tracks: Names of the tracks.
        began: Monotonic seconds at which the session began; media time counts from it.
        flushes: How often the model cut to black.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        settings: MediaSettings,
        clock: FakeClock,
        turn: HostTurn,
        on_news: Callable[[], None],
    ) -> None:
        outputs = [track for track in tracks if track.direction is TrackDirection.OUT]
        self.tracks = tuple(track.name for track in outputs)
        self.began, self.flushes = clock.now(), 0
        self._clock, self._turn, self._on_news = clock, turn, on_news
        self._video = [track.name for track in outputs if track.kind is TrackKind.VIDEO]
        self._rates = {t.name: t.sample_rate for t in outputs if t.kind is TrackKind.AUDIO}
        self._sounds = _Sounds()
        self._pacer = Pacer(
            {name: _SoundTap(name, clock, self._sounds.begun) for name in self._rates},
            has_video=bool(self._video),
            settings=settings,
            clock=clock,
        )

    # --- what the host asks for ---

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Copy *chunk* and queue it, unless it is not *wanted* by then."""
        arrived_at = self._clock.now()
        pictures = {
            name: [
                Picture(frame=picture, metadata=metadata)
                for picture, metadata in _with_metadata(chunk, name)
            ]
            for name in chunk.video
        }
        sounds = {name: np.array(some) for name, some in chunk.audio.items() if some.shape[1]}
        origin = ChunkOrigin(
            started_at=arrived_at,  # what a step takes of the machine's time is none of the model's
            arrived_at=arrived_at,
            compute_s=chunk.compute_s,
            pinned_fps=chunk.pinned_fps,
            sound_s=max((s.shape[1] / (self._rates[n] or 1) for n, s in sounds.items()), default=0),
        )
        with self._pacer.changed:
            if wanted is None or wanted():
                said = chunk.metadata
                self._sounds.said += [(sounds[n], said[n][0]) for n in sounds if n in said]
                self._pacer.put(QueuedChunk(pictures, sounds), origin)
        self._turn.emit()
        self._on_news()

    def note_dropped(self, chunk: Chunk) -> None:
        """Do nothing: it is not shown."""

    def flush(self) -> None:
        """Drop everything queued; the cut to black is counted, not shown."""
        with self._pacer.changed:
            self.flushes += 1
            self._sounds.clear()
        self._pacer.clear()

    def reset(self) -> None:
        """Forget the session."""
        self._pacer.forget()
        self._sounds.clear()
        self._turn.reset()
        self._on_news()

    def set_fps(self, fps: float) -> None:
        """Pin the rate and re-pace what is queued."""
        self._pacer.set_fps(fps)

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Return when a step may start; ``None`` while the test waits for nothing."""
        at = self._pacer.step_at(frames, coming)
        may_step = self._turn.ask_to_step(at, self._clock.now())
        self._on_news()
        return at if may_step else None

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        with self._pacer.changed:
            if self._pacer.has_room(frames):
                return True
            room_at = self._pacer.announce_room(self._clock.now())
        self._turn.wait_for_room(room_at)
        self._on_news()
        return False

    def plays_until(self) -> float:
        """Return when everything queued will have been shown."""
        with self._pacer.changed:
            return self._pacer.timeline.end(self._clock.now())

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever the host should ask again."""
        self._pacer.on_room(callback)

    def stats(self) -> Mapping[str, Any]:
        """Return the pacer's figures."""
        return {**self._pacer.stats(), "tracks": {}}

    # --- what the test asks for ---

    def let_go(self, *, may_step: bool) -> None:
        """Let the host go on, and have it ask again for whatever it waits for."""
        self._turn.let_go(may_step=may_step)
        self._pacer.ask_again()

    def due_at(self) -> float | None:
        """Return when the next of what is queued is shown, ``None`` when nothing is."""
        with self._pacer.changed:
            timeline = self._pacer.timeline
            dues = [timeline.due(name) for name in self._video]
            dues.append(timeline.sound_due())
        return min((due for due in dues if due is not None), default=None)

    def take_due(self) -> list[Frame]:
        """Remove and return what is shown by now, in the order of time."""
        now, found = self._clock.now(), list[Frame]()
        with self._pacer.changed:
            timeline = self._pacer.timeline
            begun = [*self._sounds.begun, *timeline.take_sounds(now)]
            self._sounds.begun.clear()
            for name in self._video:
                while (shown := timeline.take(name, now)) is not None:
                    picture = shown.picture
                    found.append(self._frame(name, shown.time, picture.frame, picture.metadata))
            found += [
                self._frame(name, when, sound, self._sounds.take_said_of(sound))
                for name, when, sound in begun
            ]
        return sorted(found, key=lambda frame: frame.time_s)

    def _frame(self, track: str, when: float, data: Any, metadata: Any = None) -> Frame:
        time_s = round(when - self.began, 9)  # a clock that begins at 1000 s has no more digits
        return Frame(track=track, data=data, time_s=time_s, metadata=metadata)


class _Sounds:
    """What was handed out and not taken yet, and the metadata of what was put."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, float, NDArray[np.int16]]] = []
        self.said: list[tuple[NDArray[np.int16], Any]] = []

    def take_said_of(self, sound: NDArray[np.int16]) -> Any:
        """Remove and return the metadata of *sound*, ``None`` if it has none."""
        for index, (some, metadata) in enumerate(self.said):
            if some is sound:
                del self.said[index]
                return metadata
        return None

    def clear(self) -> None:
        self.begun.clear()
        self.said.clear()


class _SoundTap(SampleLine):
    """Takes the place of a sound track's line: what a chunk hands out at once is kept whole."""

    def __init__(
        self, track: str, clock: FakeClock, begun: list[tuple[str, float, NDArray[np.int16]]]
    ) -> None:
        super().__init__()
        self._track, self._clock, self._heard = track, clock, begun

    def append(self, position: int, samples: NDArray[np.int16]) -> None:
        """Keep *samples*, which begin now."""
        self._heard.append((self._track, self._clock.now(), samples))


def _with_metadata(chunk: Chunk, track: str) -> Sequence[tuple[NDArray[np.uint8], Any]]:
    pictures, metadata = np.array(chunk.video[track]), chunk.metadata.get(track, ())
    pictures.flags.writeable = False
    return [
        (picture, metadata[index] if index < len(metadata) else None)
        for index, picture in enumerate(pictures)
    ]
