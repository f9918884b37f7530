"""SharedFrameBuffer: the ring of slots that ranks write frames into and readers look at.

Each slot is one block of anonymous memory, passed by descriptor, with a region for each track::

    slot 7   | track "main" .................. | track "depth" ........ |
             | picture 0 | picture 1 |  (free) | picture 0 |    (free)  |

A slot holds what one step emitted. It is given to a step, its pictures are lent to readers as
views, and it is free again when the last view is gone.
"""

import ctypes
import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reactor_runtime.distributed.anonymous_memory import AnonymousMemory, check_room
from reactor_runtime.distributed.frame_parts import (
    NeedsRoom,
    Part,
    Region,
    Shape,
    SlotGrant,
    aligned,
    picture_bytes,
)
from reactor_runtime.errors import FramesHeldError

FIRST_SLOTS: Final = 3
MOST_SLOTS: Final = 8


@dataclass(slots=True)
class _Slot:
    grant: SlotGrant
    memory: AnonymousMemory
    lent: tuple[str, Sequence[Part]] | None = None  # what its readers hold
    watch: "weakref.ref[Any] | None" = None  # sees the last of them go


class SharedFrameBuffer:
    """The slots of one worker group. The group owns it; workers write through ``SlotWriter``.

    Args:
        shapes: Track name to the declared shape of one chunk; may be empty.
        dtype: Numpy type of the declared tracks.
    """

    def __init__(self, shapes: Mapping[str, Shape] | None = None, dtype: str = "uint8") -> None:
        self._numbers = itertools.count(1)
        self._regions = _declared_regions(shapes or {}, dtype)
        self._slots: dict[int, _Slot] = {}
        self._returned: deque[int] = deque()
        self._news: list[SlotGrant] = []
        self._gone: list[int] = []

    def __len__(self) -> int:
        return len(self._slots)

    def prepare(self) -> None:
        """Make the first slots, when a shape is declared.

        Raises:
            MemoryShortError: There is no memory for them; nothing was made.
        """
        if self._regions:
            check_room(FIRST_SLOTS * _size_of(self._regions))
            for _ in range(FIRST_SLOTS):
                self._make()

    def take(self) -> int | None:
        """Return a free slot for the next step; ``None`` while no track has a place.

        Raises:
            FramesHeldError: Readers hold all slots there may be.
            MemoryShortError: There is no memory for another slot.
        """
        if not self._regions:
            return None
        self._collect()
        for number, slot in self._slots.items():
            if not slot.lent:
                return number
        self._check_lent()
        return self._make()

    def room_for(self, needs: Iterable[NeedsRoom], old: int | None, used: Iterable[Part]) -> int:
        """Return a slot with room for *needs*, holding what was written into *old* so far.

        Raises:
            FramesHeldError: Readers hold all slots there may be.
            MemoryShortError: There is no memory for a larger slot.
        """
        source = self._slots[old] if old is not None else None
        if not self._enlarge(needs) and old is not None:
            return old
        self._collect()
        for number, slot in list(self._slots.items()):
            if not slot.lent and slot is not source:
                self._retire(number)
        self._check_lent()
        number = self._make()
        if source is not None:
            self._move(source, self._slots[number], used)
            self._retire(source.grant.number)
        return number

    def lend(self, number: int, label: str, pictures: Sequence[Part]) -> "Lease":
        """Return the right to read slot *number*; the slot is free when all of it is gone.

        Args:
            number: The slot.
            label: What the readers call its contents.
            pictures: What it contains.
        """
        slot, returned = self._slots[number], self._returned
        lease = Lease(slot.memory, slot.grant)
        slot.lent = label, pictures
        slot.watch = lease.watch(lambda _: returned.append(number))
        return lease

    def news(self) -> tuple[tuple[SlotGrant, ...], tuple[int, ...], tuple[int, ...]]:
        """Return new slots, their descriptors, and retired slots since the last call."""
        if not self._news and not self._gone:
            return (), (), ()
        grants, gone = tuple(self._news), tuple(self._gone)
        self._news.clear()
        self._gone.clear()
        files = tuple(self._slots[grant.number].memory.descriptor for grant in grants)
        return grants, files, gone

    def close(self) -> None:
        """Let go of all slots; views that are still held stay whole. Idempotent."""
        for slot in self._slots.values():
            slot.memory.close()
        self._slots.clear()
        self._regions.clear()

    def _check_lent(self) -> None:
        lent = [slot.lent for slot in self._slots.values() if slot.lent]
        if len(lent) >= MOST_SLOTS:
            raise FramesHeldError(tuple(f"{label}: {_described(parts)}" for label, parts in lent))

    def _make(self) -> int:
        number, size = next(self._numbers), _size_of(self._regions)
        memory = AnonymousMemory.create("reactor-frames", size)
        grant = SlotGrant(number=number, size=size, regions=dict(self._regions))
        self._slots[number] = _Slot(grant, memory)
        self._news.append(grant)
        return number

    def _retire(self, number: int) -> None:
        self._slots.pop(number).memory.close()
        fresh = [grant for grant in self._news if grant.number != number]
        if len(fresh) == len(self._news):
            self._gone.append(number)
        self._news = fresh

    def _collect(self) -> None:
        """Take back what readers have let go of; slots of an older layout are retired."""
        while self._returned:
            number = self._returned.popleft()
            if number in self._slots:
                self._slots[number].lent = self._slots[number].watch = None
                if self._slots[number].grant.regions != self._regions:
                    self._retire(number)

    def _enlarge(self, needs: Iterable[NeedsRoom]) -> bool:
        wanted = {track: (r.capacity, r.shape, r.dtype) for track, r in self._regions.items()}
        for need in needs:
            capacity, shape, dtype = wanted.get(need.track, (0, (), need.dtype))
            wanted[need.track] = (max(capacity, need.capacity), shape, dtype)
        regions = _laid_out(wanted)
        has_changed, self._regions = regions != self._regions, regions
        return has_changed

    @staticmethod
    def _move(source: _Slot, target: _Slot, used: Iterable[Part]) -> None:
        for part in used:
            size = picture_bytes(part.shape, np.dtype(part.dtype).itemsize)
            start = source.grant.regions[part.track].offset + part.offset
            goal = target.grant.regions[part.track].offset + part.offset
            target.memory.mapping[goal : goal + size] = source.memory.mapping[start : start + size]


class Lease:
    """The right to read one slot. Arrays made from it keep it; it ends with the last of them."""

    def __init__(self, memory: AnonymousMemory, grant: SlotGrant) -> None:
        self._grant = grant
        self._bytes = (ctypes.c_ubyte * memory.size).from_buffer(memory.mapping)

    def watch(self, on_end: Callable[[Any], None]) -> "weakref.ref[Any]":
        """Return what calls *on_end* when nobody has the right any more."""
        return weakref.ref(self._bytes, on_end)

    def view(self, part: Part, frames: int | None = None) -> npt.NDArray[Any]:
        """Return a picture, read-only and not copied; its first *frames* frames if given."""
        offset = self._grant.regions[part.track].offset + part.offset
        shape = part.shape if frames is None else (frames, *part.shape[1:])
        view = np.ndarray(shape, part.dtype, buffer=self._bytes, offset=offset)  # type: ignore[arg-type]
        view.flags.writeable = False
        return view


def _declared_regions(shapes: Mapping[str, Shape], dtype: str) -> dict[str, Region]:
    itemsize = np.dtype(dtype).itemsize
    return _laid_out(
        {track: (picture_bytes(shape, itemsize), shape, dtype) for track, shape in shapes.items()}
    )


def _laid_out(wanted: Mapping[str, tuple[int, Shape, str]]) -> dict[str, Region]:
    regions: dict[str, Region] = {}
    offset = 0
    for track, (capacity, shape, dtype) in sorted(wanted.items()):
        regions[track] = Region(offset=offset, capacity=capacity, shape=shape, dtype=dtype)
        offset += aligned(capacity)
    return regions


def _described(parts: Iterable[Part]) -> str:
    return ", ".join(f"{part.track} {part.shape} {part.dtype}" for part in parts)


def _size_of(regions: Mapping[str, Region]) -> int:
    return max(1, sum(aligned(region.capacity) for region in regions.values()))
