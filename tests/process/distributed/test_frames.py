"""Frames between processes: growth, views, slots, and what is refused."""

import gc
from collections.abc import Callable

import numpy as np
import pytest
from tests.process.distributed.faults import Unreadable
from tests.process.distributed.traces import shared_blocks
from tests.process.distributed.workers import SHAPE, Painter

from reactor_runtime.distributed.shared_frame_buffer import FIRST_SLOTS, MOST_SLOTS
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import FrameError, FramesHeldError, MemoryShortError, WorkerError

MakeGroup = Callable[..., WorkerGroup]


def test_a_longer_chunk_makes_the_buffer_grow(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        before = group.generate(1, "leader")
        longer = group.generate(2, ("leader", 11))
        assert longer.shape == (11, *SHAPE[1:])
        assert (longer == 2).all()
        assert (before == 1).all()
        assert (group.generate(3, "bands") // 10 == 3).all()
        assert (group.generate(4, ("leader", 11)) == 4).all()


def test_the_first_chunk_makes_a_buffer_where_no_shape_was_told(make_group: MakeGroup) -> None:
    with make_group(Painter) as group:
        assert (group.generate(1, "leader") == 1).all()
        assert group.generate(2, "nothing").shape[0] == 0
        assert (group.generate(3, ("leader", 2)) == 3).all()


@pytest.mark.parametrize("shape", [SHAPE, None])
def test_another_rank_than_the_leader_may_have_the_chunk(
    make_group: MakeGroup, shape: tuple[int, ...] | None
) -> None:
    with make_group(Painter, frame_shape=shape) as group:
        assert (group.generate(6, "last_rank") == 6).all()
        assert (group.generate(7, "last_rank") == 7).all()


def test_the_leaders_chunk_is_the_one_that_counts(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        assert (group.generate(2, "everyone") == 20).all()


def test_views_cannot_be_written_to_and_survive_the_group(make_group: MakeGroup) -> None:
    group = make_group(Painter, frame_shape=SHAPE)
    group.start()
    chunk = group.generate(1, "leader")
    with pytest.raises(ValueError, match="read-only"):
        chunk[0] = 0
    group.generate(2, "leader")
    group.shutdown()
    assert (chunk == 1).all()


def test_a_slot_is_free_when_the_last_part_of_its_chunk_is_gone(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        for index in range(3 * MOST_SLOTS):
            row = group.generate(index, "leader")[1:][0]
            assert (row == index).all()
            held = memoryview(row)
            assert held[0, 0, 0] == index


def test_held_chunks_stay_whole_until_there_is_no_slot(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        held = [group.generate(index, "leader") for index in range(MOST_SLOTS)]
        with pytest.raises(FramesHeldError) as caught:
            group.generate(9, "leader")
        assert len(caught.value.views) == MOST_SLOTS
        assert "chunk 0: frames (4, 12, 16, 3) uint8" in caught.value.views
        assert group.healthy
        assert all((chunk == index).all() for index, chunk in enumerate(held))
        del held[3]
        gc.collect()
        assert (group.generate(10, "leader") == 10).all()


@pytest.mark.parametrize("size", [0, 100_000], ids=["in the channel", "in a block"])
def test_a_session_that_ranks_cannot_read_takes_no_new_slot_with_it(
    make_group: MakeGroup, size: int
) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        held = [group.generate(index, "leader") for index in range(FIRST_SLOTS)]
        with pytest.raises(WorkerError, match="a fault of the author"):
            group.start_session((Unreadable(), "x" * size, np.zeros(size)))
        assert group.healthy
        assert (group.generate(9, "leader") == 9).all()
        assert all((chunk == index).all() for index, chunk in enumerate(held))
        longer = group.generate(1, ("leader", 11))
        with pytest.raises(WorkerError, match="a fault of the author"):
            group.start_session(Unreadable())
        assert (group.generate(2, ("leader", 11)) == 2).all()
        assert (longer == 1).all()


def test_a_held_chunk_survives_growth(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        held = [group.generate(index, ("leader", 4 + index)) for index in range(6)]
        assert all((chunk == index).all() for index, chunk in enumerate(held))
        assert [chunk.shape[0] for chunk in held] == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (5, "end row 5 is outside the buffer of 4 frames"),
        (-1, "end row -1 is outside"),
        (True, "end row True"),
        ("frames", "returns frames, an end row or None"),
        (np.zeros((4, 12, 16, 3), np.float32), "float32"),
        (np.zeros((4, 12, 17, 3), np.uint8), "(4, 12, 17, 3)"),
        (np.zeros((12, 16, 3), np.uint8), "(12, 16, 3)"),
    ],
)
@pytest.mark.parametrize("rank", [0, 1])
def test_what_is_no_chunk_is_an_error_that_says_so(
    make_group: MakeGroup, value: object, words: str, rank: int
) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        with pytest.raises(WorkerError) as caught:
            group.generate(0, ("returns", value, rank))
        assert caught.value.rank == rank
        assert isinstance(caught.value.__cause__, FrameError)
        assert words in str(caught.value)


def test_frames_that_do_not_fit_the_machine_are_refused_before_a_load(
    make_group: MakeGroup,
) -> None:
    group = make_group(Painter, frame_shape=(100_000, 4320, 7680, 3))
    with pytest.raises(MemoryShortError) as caught:
        group.start()
    assert caught.value.needed_bytes == 3 * 100_000 * 4320 * 7680 * 3
    assert caught.value.free_bytes > 0
    assert not group.healthy


def test_nothing_is_ever_in_dev_shm(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        before = shared_blocks()
        chunk = group.generate(1, ("leader", 40))
        assert shared_blocks() <= before
        assert (chunk == 1).all()


def test_odd_controls_arrive_as_they_were(make_group: MakeGroup) -> None:
    with make_group(Painter, frame_shape=SHAPE) as group:
        large = np.random.default_rng(1).integers(0, 256, (40, 12, 16, 3), np.uint8)
        for _ in range(3):
            assert (group.generate(0, ("returns", large[::2])) == large[::2]).all()
        text = "x" * 500_000
        with pytest.raises(WorkerError, match="returns frames"):
            group.generate(0, ("returns", text))
