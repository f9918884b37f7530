"""ChunkInFlight: a chunk waits until the ranks know what to do next, and lands once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from reactor_runtime.clock import SystemClock
from reactor_runtime.host.chunk_in_flight import ChunkInFlight
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.host.silent_host_outlet import SilentHostOutlet


def chunk_of(frames: int) -> Chunk:
    return Chunk(
        video={"main": np.zeros((frames, 2, 2, 3), np.uint8)},
        audio={},
        started_at=0.0,
        compute_s=0.0,
    )


def wanted() -> bool:
    return True


class Queue(SilentHostOutlet):
    """Notes how many frames each chunk has that was put."""

    def __init__(self) -> None:
        self.got: list[int] = []

    def put(self, chunk: Chunk, wanted: Any = None) -> None:
        self.got.append(len(chunk.video["main"]))


def make(queue: Any, *, is_beside: bool = True) -> ChunkInFlight:
    return ChunkInFlight(queue, SystemClock(), lambda: None, is_beside=is_beside)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def in_flight(queue: Queue) -> Iterator[ChunkInFlight]:
    made = make(queue)
    yield made
    made.close()


def test_a_chunk_waits_for_the_start_and_counts_meanwhile(
    queue: Queue, in_flight: ChunkInFlight
) -> None:
    in_flight.take(chunk_of(3), wanted)
    assert (queue.got, in_flight.frames) == ([], 3)
    in_flight.start()
    in_flight.start()
    in_flight.settle()
    assert (queue.got, in_flight.frames) == ([3], 0)


def test_a_chunk_that_was_never_started_lands_before_the_next(
    queue: Queue, in_flight: ChunkInFlight
) -> None:
    in_flight.take(chunk_of(1), wanted)
    in_flight.take(chunk_of(2), wanted)
    assert (queue.got, in_flight.frames) == ([1], 2)
    in_flight.settle()
    assert queue.got == [1, 2]


def test_what_waits_lands_at_the_end(queue: Queue, in_flight: ChunkInFlight) -> None:
    in_flight.take(chunk_of(5), wanted)
    in_flight.close()
    in_flight.close()
    assert queue.got == [5]


def test_without_a_thread_beside_it_lands_at_once(queue: Queue) -> None:
    in_flight = make(queue, is_beside=False)
    in_flight.take(chunk_of(4), wanted)
    assert (queue.got, in_flight.frames) == ([4], 0)
    in_flight.close()
