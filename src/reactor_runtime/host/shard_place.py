"""Where a ``Shard`` lies in the whole picture."""

from typing import Any, Final

from reactor_runtime.errors import FrameError
from reactor_runtime.model.output import Shard, TrackPayload
from reactor_runtime.world import World

Shape = tuple[int, ...]
_AXES: Final = {"frames": 0, "height": 1, "width": 2}


def shard_in(value: Any) -> Shard | None:
    """Return the ``Shard`` in a track's value, ``None`` where there is none."""
    while isinstance(value, TrackPayload):
        value = value.array
    return value if isinstance(value, Shard) else None


def place_of(track: str, shard: Shard, extent: Shape, world: World) -> tuple[Shape, Shape]:
    """Return the shape of the whole picture and where this rank's part begins in it.

    Args:
        track: The track, for the error.
        shard: What the author gave.
        extent: Shape of the part, ``(T, H, W, 3)``.
        world: Who gave it.

    Raises:
        FrameError: The part does not lie in the whole.
    """
    axis = _AXES[shard.axis]
    rows = extent[axis]
    start = shard.start if shard.start is not None else world.rank * rows
    whole = shard.of if shard.of is not None else world.world_size * rows
    if not 0 <= start <= start + rows <= whole:
        reason = (
            f"rank {world.rank}'s part covers {shard.axis} {start} to {start + rows} "
            f"of a picture of {whole}"
        )
        raise FrameError(track, reason, extent, "uint8")
    shape = (*extent[:axis], whole, *extent[axis + 1 :])
    origin = tuple(start if index == axis else 0 for index in range(len(extent)))
    return shape, origin
