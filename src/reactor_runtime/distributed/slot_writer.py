"""SlotWriter: a rank's hand on the shared frames, ``worker.frames``."""

import mmap
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from reactor_runtime.distributed.anonymous_memory import map_shared
from reactor_runtime.distributed.frame_parts import (
    ONLY_TRACK,
    NeedsRoom,
    Part,
    Region,
    Shape,
    SlotGrant,
    picture_bytes,
)
from reactor_runtime.distributed.pixels import PixelCopies, dtype_of
from reactor_runtime.errors import FrameError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    part: Part
    pixels: Any
    offered: bool
    may_change: bool = False  # before the verb returns


class SlotWriter:
    """Where a rank writes the frames of the step it is in.

    Two ways: ``array`` gives the slot itself, to be written in place, and costs no copy; ``place``
    copies an array or a part of one. Both are valid until the verb returns.

    Args:
        device: The rank's device.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._slots: dict[int, tuple[SlotGrant, mmap.mmap]] = {}
        self._current: int | None = None
        self._pictures: dict[str, list[Part]] = {}
        self._parts: list[Part] = []
        self._waiting: list[_Waiting] = []
        self._copies = PixelCopies(device)

    def __setitem__(self, index: Any, pixels: Any) -> None:
        """Write into the slot, as ``array()[index] = pixels``."""
        self.array()[index] = pixels

    def declared(self, track: str = ONLY_TRACK) -> tuple[Shape, str] | None:
        """Return the declared shape and type of *track*, ``None`` when nothing was declared."""
        region = self._region(track)
        return (region.shape, region.dtype) if region is not None and region.shape else None

    def array(self, track: str = ONLY_TRACK) -> npt.NDArray[Any]:
        """Return the slot's own memory for *track* in its declared shape.

        Raises:
            FrameError: No shape was declared for this track, or no step is running.
        """
        return self._view(self.claim(track))

    def claim(self, track: str = ONLY_TRACK) -> Part:
        """Count the first picture of *track* as written in place; raises as ``array``."""
        region = self._region(track)
        if region is None or not region.shape:
            reason = "there is no slot to write in: declare frame_shape, or return the array"
            raise FrameError(track, reason)
        part = self._picture(track, 0, region.shape, region.dtype)
        if part not in self._parts:
            self._parts.append(part)
        return part

    def place(
        self,
        track: str,
        pixels: Any,
        *,
        shape: Shape | None = None,
        origin: Shape = (),
        picture: int | None = None,
        may_change: bool = False,
    ) -> None:
        """Copy *pixels* into the step's frames, or keep it until there is room.

        Args:
            track: The track's name.
            pixels: An array or tensor; it must not change before the verb returns.
            shape: Shape of the whole picture, when this is a part of it.
            origin: Where the part begins in the picture.
            picture: Which of the step's pictures on this track; the next one unless given.
            may_change: It may change all the same: what must be kept is copied.

        Raises:
            FrameError: The part sticks out of the picture, or an earlier part says otherwise.
        """
        extent, dtype = tuple(pixels.shape), dtype_of(pixels)
        whole = shape if shape is not None else extent
        _check_inside(track, extent, whole, origin)
        number = len(self._pictures.get(track, ())) if picture is None else picture
        part = self._picture(track, number, whole, dtype)
        part = part._replace(origin=origin, extent=extent)
        self._write_or_keep(
            _Waiting(part=part, pixels=pixels, offered=False, may_change=may_change)
        )

    def reserve(self, track: str, shape: Shape, dtype: str, *, picture: int) -> None:
        """Leave a picture to other ranks: this one writes nothing of it.

        Raises:
            FrameError: An earlier part says otherwise.
        """
        self._picture(track, picture, shape, dtype)

    def offer(self, track: str, pixels: Any) -> None:
        """Keep *pixels*; they count if the leader writes nothing on this track."""
        shape, dtype = tuple(pixels.shape), dtype_of(pixels)
        part = self._picture(track, 0, shape, dtype)._replace(extent=shape)
        self._waiting.append(_Waiting(part=part, pixels=pixels, offered=True))

    def adopt(self, grant: SlotGrant, descriptor: int) -> None:
        """Map a slot that the group grants."""
        mapping = map_shared(descriptor, grant.size)
        os.close(descriptor)
        self._slots[grant.number] = (grant, mapping)
        self._copies.pin(mapping)

    def retire(self, number: int) -> None:
        """Let go of a slot that will not be used again."""
        _, mapping = self._slots.pop(number)
        self._copies.unpin(mapping)

    def begin(self, slot: int | None) -> None:
        """Start a step whose frames go into *slot*."""
        self._current = slot
        self._pictures.clear()
        self._parts.clear()
        self._waiting.clear()

    def finish(self) -> tuple[tuple[Part, ...], tuple[NeedsRoom, ...]]:
        """Return what was written, and what waits for room."""
        if not self._parts and not self._waiting:
            return (), ()
        self._copies.wait()
        parts = tuple(self._parts)
        self._parts.clear()
        return parts, tuple(map(_need_of, self._waiting))

    def place_waiting(self, slot: int, *, with_offers: bool) -> None:
        """Write what waits into a larger *slot*; offers too if they are wanted."""
        waiting, self._waiting = self._waiting, []
        self._current = slot
        for part in waiting:
            if with_offers or not part.offered:
                self._write_or_keep(replace(part, offered=False))

    def _region(self, track: str) -> Region | None:
        """Return the place of *track* in the slot of this step, if it has one."""
        if self._current is None:
            return None
        return self._slots[self._current][0].regions.get(track)

    def _picture(self, track: str, number: int, shape: Shape, dtype: str) -> Part:
        pictures = self._pictures.setdefault(track, [])
        if number < len(pictures):
            known = pictures[number]
            if (known.shape, known.dtype) != (shape, dtype):
                reason = f"picture {number} of this step was {known.shape} {known.dtype} before"
                raise FrameError(track, reason, shape, dtype)
            return known
        if number > len(pictures):
            raise FrameError(track, f"picture {number} comes before picture {len(pictures)}")
        offset = 0
        if pictures:
            last = pictures[-1]
            offset = last.offset + picture_bytes(last.shape, np.dtype(last.dtype).itemsize)
        part = Part(track=track, picture=number, offset=offset, shape=shape, dtype=dtype)
        pictures.append(part)
        return part

    def _write_or_keep(self, waiting: _Waiting) -> None:
        part = waiting.part
        region = self._region(part.track)
        if region is None or part.offset + _bytes_of(part) > region.capacity:
            if waiting.may_change:
                pixels = waiting.pixels
                kept = pixels.copy() if isinstance(pixels, np.ndarray) else pixels.clone()
                waiting = replace(waiting, pixels=kept, may_change=False)
            self._waiting.append(waiting)
            return
        window = tuple(
            slice(start, start + length)
            for start, length in zip(_padded(part.origin, part.extent), part.extent, strict=True)
        )
        self._copies.copy(self._view(part)[window], waiting.pixels)
        self._parts.append(part)

    def _view(self, part: Part) -> npt.NDArray[Any]:
        grant, mapping = self._slots[self._current or 0]
        offset = grant.regions[part.track].offset + part.offset
        return np.ndarray(part.shape, part.dtype, buffer=mapping, offset=offset)


def _need_of(waiting: _Waiting) -> NeedsRoom:
    part = waiting.part
    return NeedsRoom(
        track=part.track,
        shape=part.shape,
        dtype=part.dtype,
        capacity=part.offset + _bytes_of(part),
        offered=waiting.offered,
    )


def _bytes_of(part: Part) -> int:
    return picture_bytes(part.shape, np.dtype(part.dtype).itemsize)


def _padded(origin: Shape, extent: Shape) -> Shape:
    return origin + (0,) * (len(extent) - len(origin))


def _check_inside(track: str, extent: Shape, whole: Shape, origin: Shape) -> None:
    fits = len(extent) == len(whole) >= len(origin) and all(
        start >= 0 and start + length <= limit
        for start, length, limit in zip(_padded(origin, extent), extent, whole, strict=False)
    )
    if not fits:
        reason = f"a part at {_padded(origin, extent)} does not lie in a picture of {whole}"
        raise FrameError(track, reason, extent)
