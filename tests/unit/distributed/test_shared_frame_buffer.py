"""The ring of slots and a rank's hand on it, in one process: same memory, two mappings."""

import gc
import os
from typing import Any

import numpy as np
import pytest

from reactor_runtime.distributed.call_result import CallResult, CallTiming
from reactor_runtime.distributed.frame_parts import NeedsRoom, Part
from reactor_runtime.distributed.shared_frame_buffer import (
    FIRST_SLOTS,
    MOST_SLOTS,
    SharedFrameBuffer,
)
from reactor_runtime.distributed.slot_writer import SlotWriter
from reactor_runtime.errors import FrameError, FramesHeldError, MemoryShortError

SHAPE = (2, 4, 6, 3)


class Pair:
    """A ring and one rank that writes into it."""

    def __init__(self, shapes: dict[str, tuple[int, ...]] | None = None) -> None:
        self.ring = SharedFrameBuffer(shapes or {})
        self.ring.prepare()
        self.writer = SlotWriter()

    def begin(self) -> int | None:
        slot = self.ring.take()
        self.tell()
        self.writer.begin(slot)
        return slot

    def tell(self) -> None:
        grants, files, gone = self.ring.news()
        for number in gone:
            self.writer.retire(number)
        for grant, file in zip(grants, files, strict=True):
            self.writer.adopt(grant, os.dup(file))

    def finish(self, slot: int | None) -> CallResult:
        parts, needs = self.writer.finish()
        if needs:
            slot = self.ring.room_for(needs, slot, parts)
            self.tell()
            self.writer.place_waiting(slot, with_offers=False)
            parts += self.writer.finish()[0]
        assert slot is not None
        tracks: dict[str, dict[int, list[tuple[int, Part]]]] = {}
        for part in parts:
            tracks.setdefault(part.track, {}).setdefault(part.picture, []).append((0, part))
        sorted_parts = {
            track: tuple(tuple(found[k]) for k in sorted(found)) for track, found in tracks.items()
        }
        return CallResult(
            payloads=(),
            timing=CallTiming(),
            parts=sorted_parts,
            lease=self.ring.lend(slot, "a chunk", parts),
        )


def filled(value: int, *shape: int) -> Any:
    return np.full(shape, value, np.uint8)


def test_the_first_slots_are_there_when_a_shape_is_told() -> None:
    assert len(Pair({"main": SHAPE}).ring) == FIRST_SLOTS
    assert len(Pair().ring) == 0
    assert Pair().begin() is None


def test_several_tracks_and_several_pictures_in_one_step() -> None:
    pair = Pair()
    for turn in range(3):
        slot = pair.begin()
        pair.writer.place("main", filled(10 + turn, 2, 4, 6, 3))
        pair.writer.place("depth", filled(20 + turn, 1, 2, 2, 3))
        pair.writer.place("main", filled(30 + turn, 5, 8, 6, 3))
        result = pair.finish(slot)
        first, second = result.pictures("main")
        (depth,) = result.pictures("depth")
        assert (first.shape, second.shape) == ((2, 4, 6, 3), (5, 8, 6, 3))
        assert (first == 10 + turn).all()
        assert (second == 30 + turn).all()
        assert (depth == 20 + turn).all()
        assert result.pictures("none") == []


def test_parts_make_a_picture() -> None:
    pair = Pair()
    slot = pair.begin()
    for row in range(2):
        for top in (0, 2):
            pair.writer.place(
                "main",
                filled(10 * row + top, 1, 2, 6, 3),
                shape=SHAPE,
                origin=(row, top),
                picture=0,
            )
    (picture,) = pair.finish(slot).pictures("main")
    assert picture[:, :, 0, 0].tolist() == [[0, 0, 2, 2], [10, 10, 12, 12]]


def test_what_was_written_in_place_moves_when_another_part_needs_room() -> None:
    pair = Pair({"main": SHAPE})
    slot = pair.begin()
    pair.writer.array("main")[:] = 5
    pair.writer.place("main", filled(6, 9, 40, 60, 3))
    first, second = pair.finish(slot).pictures("main")
    assert (first == 5).all()
    assert (second == 6).all()


def test_other_types_than_bytes() -> None:
    pair = Pair()
    slot = pair.begin()
    pair.writer.place("main", np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    (picture,) = pair.finish(slot).pictures("main")
    assert picture.dtype == np.float32
    assert picture[1, 2, 3] == 23


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": (1, 4, 6, 3)}, "does not lie in a picture of (1, 4, 6, 3)"),
        ({"shape": SHAPE, "origin": (1,)}, "a part at (1, 0, 0, 0)"),
        ({"shape": SHAPE, "origin": (0, -1)}, "a part at (0, -1, 0, 0)"),
        ({"shape": (2, 4, 6)}, "does not lie in"),
        ({"picture": 2}, "picture 2 comes before picture 0"),
    ],
)
def test_a_part_that_sticks_out_is_refused(options: dict[str, Any], words: str) -> None:
    pair = Pair()
    pair.begin()
    with pytest.raises(FrameError) as caught:
        pair.writer.place("main", filled(1, *SHAPE), **options)
    assert words in str(caught.value)


def test_a_picture_has_one_shape() -> None:
    pair = Pair()
    pair.begin()
    pair.writer.place("main", filled(1, *SHAPE))
    with pytest.raises(FrameError, match=r"picture 0 of this step was \(2, 4, 6, 3\) uint8"):
        pair.writer.place("main", filled(1, 2, 4, 8, 3), picture=0)


def test_in_place_needs_a_declared_shape() -> None:
    with pytest.raises(FrameError, match="declare frame_shape"):
        SlotWriter().array()


def test_slots_grow_to_eight_and_then_say_who_holds_them() -> None:
    pair = Pair({"main": SHAPE})
    held = []
    for number in range(MOST_SLOTS):
        slot = pair.begin()
        pair.writer.array("main")[:] = number
        held.append(pair.finish(slot).pictures("main")[0])
    assert len(pair.ring) == MOST_SLOTS
    with pytest.raises(FramesHeldError) as caught:
        pair.ring.take()
    assert caught.value.views == (f"a chunk: main {SHAPE} uint8",) * MOST_SLOTS
    assert [int(view.mean()) for view in held] == list(range(MOST_SLOTS))
    held.pop(2)
    gc.collect()
    assert pair.ring.take() is not None


def test_a_slot_of_an_older_layout_is_given_up_when_its_reader_lets_go() -> None:
    pair = Pair({"main": SHAPE})
    slot = pair.begin()
    pair.writer.array("main")[:] = 1
    old = pair.finish(slot).pictures("main")
    slot = pair.begin()
    pair.writer.place("main", filled(2, 50, 4, 6, 3))
    new = pair.finish(slot).pictures("main")
    assert len(pair.ring) == 2
    assert (old[0] == 1).all()
    old.clear()
    gc.collect()
    pair.begin()
    assert (new[0] == 2).all()
    assert all(slot is not None for slot in [pair.ring.take()])


def test_memory_that_is_not_there_is_refused_with_its_numbers() -> None:
    ring = SharedFrameBuffer({"main": (1 << 20, 4320, 7680, 3)})
    with pytest.raises(MemoryShortError, match="bytes of shared memory are needed"):
        ring.prepare()
    assert len(ring) == 0
    with pytest.raises(MemoryShortError):
        Pair().ring.room_for(
            [NeedsRoom(track="x", shape=(), dtype="uint8", capacity=1 << 50)], None, []
        )
