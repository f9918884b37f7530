"""What ranks and group tell each other about the frames of one step: values only.

A step may emit several outputs. The k-th picture that a track gets in a step is the same picture
on every rank; each rank may hold all of it, a part of it, or nothing. What travels in every step is
a named tuple: it pickles in a fraction of the time of a frozen class.
"""

from dataclasses import dataclass
from math import prod
from typing import Final, NamedTuple

Shape = tuple[int, ...]
ALIGN: Final = 64
ONLY_TRACK: Final = "frames"  # of a worker that has no tracks of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A track's place in a slot.

    Attributes:
        offset: First byte.
        capacity: Bytes.
        shape: The declared shape of what is written in place; empty when none is declared.
        dtype: Its numpy type.
    """

    offset: int
    capacity: int
    shape: Shape = ()
    dtype: str = "uint8"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotGrant:
    """A slot that ranks may write to from now on; its descriptor travels beside it.

    Attributes:
        number: The slot; never given twice.
        size: Bytes.
        regions: Track name to its place.
    """

    number: int
    size: int
    regions: dict[str, Region]


class Part(NamedTuple):
    """What one rank has written of one picture.

    Attributes:
        track: The track's name.
        picture: Which of the step's pictures on this track, from 0.
        offset: First byte of the picture in the track's region.
        shape: Shape of the whole picture, frames first.
        dtype: Its numpy type.
        origin: Where the part begins in the picture, an index for each leading axis.
        extent: Shape of the part; empty when it was written in place.
    """

    track: str
    picture: int
    offset: int
    shape: Shape
    dtype: str
    origin: Shape = ()
    extent: Shape = ()


class NeedsRoom(NamedTuple):
    """A part that waits in its rank because the slot has no room for it.

    Attributes:
        track: The track's name.
        shape: Shape of the whole picture.
        dtype: Its numpy type.
        capacity: Bytes the track's region must have for all of the step's pictures.
        offered: It counts only if the leader wrote nothing on this track.
    """

    track: str
    shape: Shape
    dtype: str
    capacity: int
    offered: bool = False


def aligned(size: int) -> int:
    """Return *size* rounded up to where the next content of a block may begin."""
    return -(-size // ALIGN) * ALIGN


def picture_bytes(shape: Shape, itemsize: int) -> int:
    """Return the bytes a picture takes, the gap to the next one included."""
    return aligned(prod(shape) * itemsize)
