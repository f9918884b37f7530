"""Media tracks: the markers authors annotate with, and the frozen description read from them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

DEFAULT_SAMPLE_RATE = 48_000


class TrackKind(StrEnum):
    """What flows in a track."""

    VIDEO = "video"
    AUDIO = "audio"


class TrackDirection(StrEnum):
    """Which way a track flows, seen from the model."""

    IN = "in"
    OUT = "out"


class Video:
    """Marks a video track in an ``Output`` or ``MediaInput``.

    Frames are uint8 RGB, ``(H, W, 3)`` or ``(T, H, W, 3)``.
    """

    kind: ClassVar[TrackKind] = TrackKind.VIDEO
    buffer_seconds: ClassVar[float | None] = None


class Audio:
    """Marks an audio track in an ``Output`` or ``MediaInput``.

    Samples are int16 or float32 in [-1, 1], ``(channels, samples)``. Subclass it to set
    ``sample_rate`` (Hz) or, for an input, ``buffer_seconds``.
    """

    kind: ClassVar[TrackKind] = TrackKind.AUDIO
    sample_rate: ClassVar[int] = DEFAULT_SAMPLE_RATE
    buffer_seconds: ClassVar[float | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One media track of a model, as its class declares it.

    Attributes:
        name: The attribute it was annotated under.
        kind: Video or audio.
        direction: Seen from the model.
        sample_rate: Hz; ``None`` for video.
        buffer_seconds: How much an input buffer holds; ``None`` for the default of 128 frames.
    """

    name: str
    kind: TrackKind
    direction: TrackDirection
    sample_rate: int | None = None
    buffer_seconds: float | None = None
