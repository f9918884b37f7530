"""Film: what a model showed, in Matroska files that keep every pixel.

Video is FFV1, level 3, in RGB, and sound 16-bit PCM: both lossless, both read by FFmpeg and VLC.
The first track's file bears the sound; each further one has a file of its own, named after it::

    film.mkv          first video track, every audio track in stereo
    film.depth.mkv    the track "depth"
"""

from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import av
import numpy as np
from numpy.typing import NDArray

from reactor_runtime.log import get_logger
from reactor_runtime.media.chunk import Chunk
from reactor_runtime.media.picture import in_rows
from reactor_runtime.media.sample_line import RATE
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind

log = get_logger(__name__)

_TICKS = 90_000  # a second
_UNFINISHED = ".part"


class Film:
    """Written chunk by chunk, one after the other in time. Not for two threads at a time.

    A chunk lasts as long as its sound, its pictures spread evenly over it; without sound, frames ÷
    fps. Until ``with`` ends without an exception, the files' names end in ``.part.mkv``.

    Args:
        path: The first file; its name ends in ``.mkv``.
        tracks: The model's; of these, the outputs.

    Attributes:
        seconds: How long it is so far.
        frames: Video track to the number of its frames.
    """

    def __init__(self, path: Path, tracks: Sequence[Track]) -> None:
        self.seconds = 0.0
        self.frames: dict[str, int] = {}
        shown = [track for track in tracks if track.direction is TrackDirection.OUT]
        videos = [track.name for track in shown if track.kind is TrackKind.VIDEO]
        sounds = {t.name: t.sample_rate or RATE for t in shown if t.kind is TrackKind.AUDIO}
        self._reels = {
            name: _Reel(path if number == 0 else path.with_suffix(f".{name}.mkv"), sounds)
            for number, name in enumerate(videos or [""])
        }
        self._sound_reel = next(iter(self._reels.values()))
        for reel in list(self._reels.values())[1:]:
            reel.sounds = {}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that hold something."""
        return tuple(reel.path for reel in self._reels.values() if reel.is_open)

    def write(self, chunk: Chunk, fps: float) -> None:
        """Append *chunk*; *fps* is the rate of pictures without sound."""
        heard = [
            samples.shape[1] / self._sound_reel.sounds[name]
            for name, samples in chunk.audio.items()
        ]
        count = max((len(pictures) for pictures in chunk.video.values()), default=0)
        seconds = max(heard, default=0.0) or count / fps
        for name, samples in chunk.audio.items():
            self._sound_reel.add_sound(name, samples, self.seconds)
        for name, pictures in chunk.video.items():
            times = [self.seconds + seconds * n / len(pictures) for n in range(len(pictures))]
            self._reels[name].add_pictures(pictures, times, fps)
            self.frames[name] = self.frames.get(name, 0) + len(pictures)
        self.seconds += seconds

    def hold(self, seconds: float) -> None:
        """Let what was shown last stand for *seconds* more."""
        self.seconds += seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with ExitStack() as files:  # a full disk under one of them leaves no other open
            for reel in self._reels.values():
                files.callback(reel.close, is_whole=error is None)


class _Reel:
    """One file. It is opened by its first picture, whose size it keeps."""

    def __init__(self, path: Path, sounds: dict[str, int]) -> None:
        self.path, self.sounds = path, sounds
        self._container: Any = None
        self._video: Any = None
        self._audio: dict[str, Any] = {}
        self._early: list[tuple[str, NDArray[np.int16], float]] = []
        self._has_warned = False

    @property
    def is_open(self) -> bool:
        """Whether anything has been written, or is about to be."""
        return self._container is not None

    def add_sound(self, track: str, samples: NDArray[np.int16], at_s: float) -> None:
        """Append *samples*, ``(channels, samples)``; kept until there is a first picture."""
        if not samples.shape[1]:
            return
        if self._container is None:
            self._early.append((track, samples.copy(), at_s))
            return
        samples_s = self.sounds[track]
        stereo = samples if len(samples) == 2 else np.repeat(samples[:1], 2, axis=0)
        packed = np.ascontiguousarray(stereo.T).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(packed, format="s16", layout="stereo")
        frame.sample_rate, frame.time_base = samples_s, Fraction(1, samples_s)
        frame.pts = round(at_s * samples_s)
        self._container.mux(self._audio[track].encode(frame))

    def add_pictures(self, pictures: NDArray[np.uint8], times: Sequence[float], fps: float) -> None:
        """Append *pictures*, ``(T, H, W, 3)``, shown at *times*; *fps* is what the file says."""
        height, width = pictures.shape[1:3]
        if self._container is None:
            self._open((width, height), fps)
        held = (self._video.width, self._video.height)
        if held != (width, height) and not self._has_warned:
            self._has_warned = True
            log.warning("film_scaled", file=self.path.name, size=held, found=(width, height))
        for rgb, at_s in zip(pictures, times, strict=True):
            frame = av.VideoFrame.from_numpy_buffer(in_rows(rgb), format="rgb24")
            frame = frame.reformat(*held, format="bgr0", interpolation="BICUBIC")
            frame.time_base, frame.pts = Fraction(1, _TICKS), round(at_s * _TICKS)
            self._container.mux(self._video.encode(frame))

    def close(self, *, is_whole: bool) -> None:
        """Finish the file; a whole one gets its name."""
        if self._container is None and self._early:
            self._open()
        if self._container is None:
            return
        try:
            for stream in self._container.streams:
                self._container.mux(stream.encode(None))
        finally:
            self._container.close()
        if is_whole:
            self._unfinished.replace(self.path)

    @property
    def _unfinished(self) -> Path:
        return self.path.with_suffix(_UNFINISHED + self.path.suffix)

    def _open(self, size: tuple[int, int] | None = None, fps: float = 1.0) -> None:
        self._container = av.open(str(self._unfinished), "w", format="matroska")
        if size is not None:
            rate = Fraction(fps).limit_denominator(_TICKS)
            options = {"level": "3", "g": "1", "slices": "4"}
            self._video = self._container.add_stream("ffv1", rate=rate, options=options)
            self._video.width, self._video.height = size
            self._video.pix_fmt = "bgr0"
            self._video.time_base = self._video.codec_context.time_base = Fraction(1, _TICKS)
        for track, samples_s in self.sounds.items():
            stream = self._container.add_stream("pcm_s16le", rate=samples_s, layout="stereo")
            stream.metadata["title"] = track
            self._audio[track] = stream
        early, self._early = self._early, []
        for sound in early:
            self.add_sound(*sound)
