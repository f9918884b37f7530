"""ChunkConverter: the one copy of what a model emitted, into the forms the timeline holds."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.media.chunk import Chunk
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import ChunkOrigin
from reactor_runtime.media.picture import Picture, PictureMaker
from reactor_runtime.media.sample_line import RATE, SampleLine
from reactor_runtime.media.sound import SoundMaker
from reactor_runtime.media.stretch_watch import StretchWatch
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.model.tracks import Track, TrackKind

OnConverted = Callable[
    [QueuedChunk, Mapping[str, Sequence[Picture]], Mapping[str, NDArray[np.int16]]], None
]


class ChunkConverter:
    """Converts the chunks of one model, one at a time, without the GIL where it takes time.

    Attributes:
        on_converted: Called with every queued chunk, its pictures and its sounds, by track.
    """

    def __init__(self, tracks: Iterable[Track], *, settings: MediaSettings, clock: Clock) -> None:
        self.on_converted: OnConverted | None = None
        self._lock = threading.Lock()
        self._clock = clock
        self._stretch = StretchWatch()
        self._rates: dict[str, int] = {}
        self._pictures: dict[str, PictureMaker] = {}
        for track in tracks:
            if track.kind is TrackKind.AUDIO:
                self._rates[track.name] = track.sample_rate or RATE
            else:
                self._pictures[track.name] = PictureMaker(
                    max_width=settings.max_width, max_height=settings.max_height
                )
        self._sounds = {name: SoundMaker(rate) for name, rate in self._rates.items()}

    def make_lines(self) -> dict[str, SampleLine]:
        """Return a line for every audio track, fit for the sound it will get."""
        return {name: SampleLine(maker.delay) for name, maker in self._sounds.items()}

    def convert(self, chunk: Chunk) -> tuple[QueuedChunk, ChunkOrigin]:
        """Return what *chunk* shows, in memory of our own, and how it came to be."""
        arrived_at = self._clock.now()
        with self._lock:
            pictures = {
                name: maker.convert(chunk.video[name], chunk.metadata.get(name, ()))
                for name, maker in self._pictures.items()
                if name in chunk.video
            }
            heard = {
                name: samples
                for name, samples in chunk.audio.items()
                if name in self._sounds and samples.shape[1]
            }
            sounds = {name: self._sounds[name].convert(some) for name, some in heard.items()}
        longest = max(
            (some.shape[1] / self._rates[name] for name, some in heard.items()), default=0
        )
        origin = ChunkOrigin(
            started_at=chunk.started_at,
            arrived_at=arrived_at,
            compute_s=chunk.compute_s,
            pinned_fps=chunk.pinned_fps,
            sound_s=longest,
        )
        said = {name: chunk.metadata[name][0] for name in heard if name in chunk.metadata}
        queued = QueuedChunk(pictures, sounds, said)
        if self.on_converted is not None:
            self.on_converted(queued, pictures, sounds)
        self._stretch.note(frames=queued.frames, sound_s=longest, pinned_fps=chunk.pinned_fps)
        return queued, origin

    def begin_anew(self) -> None:
        """Let what comes next be a new sound, unrelated to what came before."""
        with self._lock:
            for maker in self._sounds.values():
                maker.reset()
