"""Output: what one step shows, a value per declared track."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from reactor_runtime.model.tracks import Track, TrackDirection, declared_tracks

Axis = Literal["frames", "height", "width"]


class Output:
    """One emission. Subclass it and annotate ``Video`` and ``Audio`` tracks.

    Constructed with exactly its tracks as keywords; a value may be an array, a tensor, a
    ``TrackPayload``, a ``Shard``, or ``None`` for nothing on that track this time. Values are
    looked at when the output is emitted, not before.

    Raises:
        TypeError: A track is missing, or a keyword names none.
    """

    __tracks__: ClassVar[dict[str, Track]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__tracks__ = {t.name: t for t in declared_tracks(cls, TrackDirection.OUT)}

    def __init__(self, /, **values: Any) -> None:
        tracks = type(self).__tracks__
        if values.keys() != tracks.keys():
            missing = [name for name in tracks if name not in values]
            unknown = [name for name in values if name not in tracks]
            wrong = f"lacks {missing}" if missing else f"has no track {unknown}"
            raise TypeError(f"{type(self).__name__} {wrong}; its tracks are {list(tracks)}")
        vars(self).update(values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(type(self).__tracks__)})"


@dataclass(frozen=True, slots=True, eq=False)
class TrackPayload:
    """A track's value with metadata beside it.

    Attributes:
        array: The frames or samples.
        metadata: One value, or (a list or tuple, where *array* has a frames axis) one per frame; of
            a sound one value. JSON has a form for it, in memory, or it is not recorded; on ranks
            it can be pickled, or it is refused.
    """

    array: Any
    metadata: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """A rank's part of a video track, in ``(T, H, W, 3)`` or ``(H, W, 3)``. Experimental.

    Without *start*, ranks hold equal parts in rank order. In a world of one it is the array.

    Attributes:
        part: This rank's rows, or a ``TrackPayload`` of them: its metadata is that of its frames.
        axis: The axis the ranks share.
        start: First row of *part* in the whole.
        of: Rows of the whole.

    Raises:
        ValueError: *axis* is none of the three, or *start* and *of* are not given together.
    """

    part: Any
    axis: Axis = "frames"
    start: int | None = None
    of: int | None = None

    def __post_init__(self) -> None:
        if self.axis not in get_args(Axis):
            raise ValueError(f"a Shard's axis is one of {get_args(Axis)}, not {self.axis!r}")
        if (self.start is None) != (self.of is None):
            raise ValueError("a Shard takes start and of together, or neither")
