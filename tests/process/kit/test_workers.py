"""Hand-driven workers under the author's test kit, without torch."""

import os
import signal
from collections.abc import Callable

import numpy as np
import pytest
from tests.process.distributed.traces import is_alive
from tests.process.distributed.workers import SHAPE, Painter

from reactor_runtime.errors import WorkerCrashed, WorkerError
from reactor_runtime.experimental import WorkerGroup

StartWorkers = Callable[..., WorkerGroup]


@pytest.mark.parametrize("world_size", [1, 2])
def test_workers_are_driven_through_two_sessions(
    start_workers: StartWorkers, world_size: int
) -> None:
    group = start_workers(Painter, world_size, frame_shape=SHAPE)
    assert len(group.pids) == world_size
    for seed in (1, 2):
        assert group.start_session({}, seed=seed) == seed
        assert np.array_equal(group.generate(3, "in_place"), np.full(SHAPE, 3, np.uint8))
        group.end_session()


def test_two_ranks_unless_told_and_no_process_group(start_workers: StartWorkers) -> None:
    assert start_workers(Painter).world_size == 2


def test_a_worker_that_raises_and_one_that_dies(start_workers: StartWorkers) -> None:
    group = start_workers(Painter)
    with pytest.raises(WorkerError, match="rank 1 raised ValueError"):
        group.start_session("refuse on 1")
    group.start_session("again")
    pids = group.pids
    os.kill(pids[1], signal.SIGKILL)
    with pytest.raises(WorkerCrashed, match="rank 1 died"):
        group.generate(0, "nothing")
    assert not any(map(is_alive, pids))
