"""Take: one unbroken stretch of a recording, encoded.

Each take is a file of its own for the muxer, which begins at zero; what comes out of it lies at its
place in the recording. While nothing new is shown it repeats its last picture, so that time passes
in the file as it does for those who watch.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.picture import Picture
from reactor_runtime.media.sample_line import RATE
from reactor_runtime.recording.fragment_sink import FragmentSink
from reactor_runtime.recording.mp4_boxes import TrackHead, read_head, shifted, span
from reactor_runtime.recording.mp4_writer import AudioTrack, Mp4Writer, VideoTrack

_KEY_EVERY_S = 2.0
_STILL_S = 1.0  # a picture that lasts longer is repeated
_NEAR_S = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A piece of a take that can be played on its own.

    Attributes:
        start_s: Recorded seconds at which it begins.
        end_s: Recorded seconds at which it ends.
        film: Its boxes.
    """

    start_s: float
    end_s: float
    film: bytes


class Take:
    """Encodes from *start_s* on, until ``close``. Not for two threads at a time.

    Args:
        start_s: Recorded seconds.
        chunk_s: A fragment begins at every multiple of it, at least.
        video: The pictures, ``None`` for none.
        audio: The sound, ``None`` for none.
    """

    def __init__(
        self,
        start_s: float,
        *,
        chunk_s: float,
        video: VideoTrack | None,
        audio: AudioTrack | None,
    ) -> None:
        self._start_s, self._chunk_s = start_s, chunk_s
        self._sink = FragmentSink()
        self._writer = Mp4Writer(self._sink, video=video, audio=audio)
        self._tracks: list[TrackHead] = read_head(self._sink.head)
        self._shown: tuple[Picture, float, float] | None = None
        self._next_key_s = start_s

    @property
    def head(self) -> bytes:
        """What a file of this take begins with."""
        return self._sink.head

    @property
    def still_due_s(self) -> float:
        """Recorded seconds at which the last picture is repeated if none follows."""
        if self._shown is None:
            return math.inf
        _, at_s, length_s = self._shown
        return min(at_s + _STILL_S, max(self._next_key_s, at_s + length_s))

    def picture(self, picture: Picture, at_s: float, length_s: float) -> None:
        """Add a picture that is shown at *at_s*, recorded seconds, for *length_s*."""
        is_key = at_s >= self._next_key_s - _NEAR_S
        if is_key:
            chunk_end_s = (math.floor(at_s / self._chunk_s + _NEAR_S) + 1) * self._chunk_s
            self._next_key_s = min(chunk_end_s, at_s + _KEY_EVERY_S)
        self._writer.picture(picture, at_s - self._start_s, length_s, key=is_key)
        self._shown = picture, at_s, length_s

    def sound(self, samples: NDArray[np.int16], at_s: float) -> None:
        """Add sound that begins at *at_s*, recorded seconds; what lies before the take is lost."""
        early = round((self._start_s - at_s) * RATE)
        if early > 0:
            samples, at_s = samples[early:], self._start_s
        if len(samples):
            self._writer.sound(samples, at_s - self._start_s)

    def repeat(self) -> None:
        """Show the last picture again, at the time it is due."""
        if self._shown is not None:
            picture, _, length_s = self._shown
            self.picture(picture, self.still_due_s, length_s)

    def close(self, end_s: float) -> None:
        """End the take; its last picture is seen until *end_s*, recorded seconds."""
        while self.still_due_s < end_s - _STILL_S:
            self.repeat()
        if self._shown is not None and end_s - sum(self._shown[1:]) > _NEAR_S:
            picture, at_s, length_s = self._shown
            self.picture(picture, max(at_s, end_s - length_s), length_s)
        self._writer.close()

    def fragments(self) -> list[Fragment]:
        """Return the fragments that have been completed since the last call."""
        return [self._placed(film) for film in self._sink.take()]

    def _placed(self, film: bytes) -> Fragment:
        spans = [each for track in self._tracks if (each := span(film, track)) is not None]
        start_s, end_s = spans[0]  # of the pictures, where there are some
        return Fragment(
            start_s=self._start_s + start_s,
            end_s=self._start_s + end_s,
            film=shifted(film, self._tracks, -self._start_s),
        )
