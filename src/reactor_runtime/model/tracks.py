"""Media tracks: the markers authors annotate with, and the frozen description read from them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from reactor_runtime.model.annotations import (
    Names,
    is_authors,
    keep_scope,
    names_around,
    own_annotations,
    resolve,
)

DEFAULT_SAMPLE_RATE = 48_000

Metadata: TypeAlias = Any  # what travels beside a frame: any value, JSON where clients shall see it


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

    if TYPE_CHECKING:  # what an instance holds under the annotated name is not the marker

        def __get__(self, instance: object, owner: type) -> Any: ...
        def __set__(self, instance: object, value: Any) -> None: ...


class Audio:
    """Marks an audio track in an ``Output`` or ``MediaInput``.

    Samples are int16 or float32 in [-1, 1], ``(channels, samples)``. Subclass it to set
    ``sample_rate`` (Hz) or, for an input, ``buffer_seconds``.
    """

    kind: ClassVar[TrackKind] = TrackKind.AUDIO
    sample_rate: ClassVar[int] = DEFAULT_SAMPLE_RATE
    buffer_seconds: ClassVar[float | None] = None

    if TYPE_CHECKING:  # what an instance holds under the annotated name is not the marker

        def __get__(self, instance: object, owner: type) -> Any: ...
        def __set__(self, instance: object, value: Any) -> None: ...


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


def declared_tracks(cls: type, direction: TrackDirection) -> tuple[Track, ...]:
    """Read the tracks *cls* and its bases annotate, in order of first declaration.

    Call it while *cls* is being defined. A redeclared track replaces the inherited one.

    Raises:
        TypeError: A public annotation is not a track, or a marker makes no sense.
    """
    keep_scope(cls)
    found: dict[str, Track] = {}
    for owner in reversed(cls.__mro__):
        if not is_authors(owner):
            continue
        names = names_around(owner)
        for name, annotation in own_annotations(owner).items():
            if not name.startswith("_"):
                found[name] = _track(
                    owner, name, _marker(owner, name, annotation, names), direction
                )
    return tuple(found.values())


def _marker(owner: type, name: str, annotation: Any, names: Names) -> type[Video] | type[Audio]:
    try:
        marker = resolve(annotation, names)
    except NameError as error:
        raise TypeError(
            f"{owner.__qualname__}.{name}: {error}; "
            "annotate a track with Video, Audio or a subclass of one, imported at module level"
        ) from error
    if isinstance(marker, type) and issubclass(marker, Video | Audio):
        return marker
    raise TypeError(
        f"{owner.__qualname__}.{name} is annotated {annotation!r}, which is not a track; "
        "use Video, Audio or a subclass of one (or ClassVar, or a name with an underscore)"
    )


def _track(
    owner: type, name: str, marker: type[Video] | type[Audio], direction: TrackDirection
) -> Track:
    where = f"{owner.__qualname__}.{name}"
    seconds = marker.buffer_seconds
    if seconds is not None and not seconds > 0:
        raise TypeError(f"{where}: buffer_seconds is {seconds!r}; give a number above 0, or None")
    rate = marker.sample_rate if issubclass(marker, Audio) else None
    if rate is not None and not (isinstance(rate, int) and rate > 0):
        raise TypeError(f"{where}: sample_rate is {rate!r}; give a whole number of Hz, as 48_000")
    return Track(
        name=name,
        kind=marker.kind,
        direction=direction,
        sample_rate=rate,
        buffer_seconds=seconds,
    )
