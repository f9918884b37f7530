"""The protocol with no torch: verbs, write patterns, retries, failures, endings."""

import ast
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.process.distributed.traces import is_alive
from tests.process.distributed.workers import SHAPE, Painter
from tests.waiting import wait_for

from reactor_runtime.distributed.teardown import Ending
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import (
    ReactorError,
    WorkerCrashed,
    WorkerError,
    WorkerGroupStateError,
)

MakeGroup = Callable[..., WorkerGroup]


def notes(folder: Path, world_size: int = 2) -> list[Any]:
    texts = [Path(folder, f"rank{rank}").read_text() for rank in range(world_size)]
    return [ast.literal_eval(text) for text in texts]


def test_two_sessions_from_start_to_end(make_group: MakeGroup, marks: Path) -> None:
    group = make_group(Painter, frame_shape=SHAPE, setup_kwargs={"size": 3})
    group.start()
    for session in range(2):
        assert group.start_session({"prompt": session}, seed=40 + session) == 40 + session
        for index in range(3):
            assert (group.generate(index, "leader") == index).all()
        group.generate(3, ("note", str(marks)))
        group.end_session()
    group.shutdown()
    expected = ["warmup", ("start", {"prompt": 0}, 40), "end", ("start", {"prompt": 1}, 41)]
    assert notes(marks) == [expected, expected]
    assert group.endings == {0: Ending.BY_ITSELF, 1: Ending.BY_ITSELF}


def test_a_failed_start_of_a_session_may_be_tried_again(make_group: MakeGroup) -> None:
    group = make_group(Painter, frame_shape=SHAPE)
    group.start()
    for refusal in ("refuse", "refuse on 1"):
        with pytest.raises(WorkerError) as caught:
            group.start_session(refusal)
        assert caught.value.phase == "start_session"
        assert isinstance(caught.value.__cause__, ValueError)
        assert group.healthy
    group.start_session("please")
    assert (group.generate(1, "leader") == 1).all()


def test_a_failed_chunk_ends_the_group_at_once(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    pids = group.pids
    began = time.monotonic()
    with pytest.raises(WorkerError) as caught:
        group.generate(7, ("raise_on", 1))
    assert time.monotonic() - began < 2
    error = caught.value
    assert (error.rank, error.phase, error.kind) == (1, "generate_chunk", "KeyError")
    assert "raise_on" in error.traceback
    assert isinstance(error.__cause__, KeyError)
    assert not any(map(is_alive, pids))
    with pytest.raises(WorkerError) as again:
        group.generate(8, "nothing")
    assert again.value is error


def test_one_failure_is_one_error(make_group: MakeGroup) -> None:
    told: list[ReactorError] = []
    group = make_group(Painter)
    group.listeners.on_failure = told.append
    group.start()
    with pytest.raises(WorkerError):
        group.generate(0, ("raise_on", 0))
    assert told == []
    assert group.failure is not None
    assert not group.healthy


def test_a_rank_killed_in_a_call_is_named(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    with pytest.raises(WorkerCrashed) as caught:
        group.generate(0, ("die", 1))
    error = caught.value
    assert (error.rank, error.phase, error.exit_code) == (1, "generate_chunk", -signal.SIGKILL)
    assert "SIGKILL" in str(error)


def test_a_rank_killed_between_calls_is_seen_at_once(make_group: MakeGroup) -> None:
    told: list[tuple[ReactorError, float]] = []
    group = make_group(Painter)
    group.listeners.on_failure = lambda error: told.append((error, time.monotonic()))
    group.start()
    pids = group.pids
    killed_at = time.monotonic()
    os.kill(pids[1], signal.SIGKILL)
    wait_for(lambda: bool(told))
    error, seen_at = told[0]
    assert isinstance(error, WorkerCrashed)
    assert (error.rank, error.phase, error.exit_code) == (1, "idle", -signal.SIGKILL)
    assert seen_at - killed_at < 1
    assert not group.healthy
    assert not any(map(is_alive, pids))
    with pytest.raises(WorkerCrashed):
        group.generate(0, "nothing")


def test_a_healthy_group_leaves_by_itself(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    group.shutdown()
    assert set(group.endings.values()) == {Ending.BY_ITSELF}
    group.shutdown()
    with pytest.raises(WorkerGroupStateError):
        group.generate(0, "nothing")


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("way", ["keep_open", "keep_for_good"])
def test_what_a_worker_leaves_open_is_written_out(
    make_group: MakeGroup, marks: Path, way: str
) -> None:
    group = make_group(Painter)
    group.start()
    group.generate(0, (way, str(marks)))
    group.shutdown()
    assert [Path(marks, f"rank{rank}").read_text() for rank in (0, 1)] == ["the last word"] * 2


def test_a_broken_group_is_terminated(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    with pytest.raises(WorkerCrashed):
        group.generate(0, ("die", 1))
    assert group.endings == {0: Ending.TERMINATED, 1: Ending.BY_ITSELF}


def test_what_the_parent_blocks_does_not_keep_a_rank(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        group.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with pytest.raises(WorkerCrashed):
        group.generate(0, ("die", 1))
    assert group.endings == {0: Ending.TERMINATED, 1: Ending.BY_ITSELF}


def test_a_rank_that_ignores_the_request_is_killed(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    group.generate(0, "ignore_sigterm")
    with pytest.raises(WorkerCrashed):
        group.generate(1, ("die", 1))
    assert group.endings == {0: Ending.KILLED, 1: Ending.BY_ITSELF}


@pytest.mark.parametrize("world_size", [2, 4])
def test_the_leader_writes_the_whole_chunk(make_group: MakeGroup, world_size: int) -> None:
    with make_group(Painter, world_size, frame_shape=SHAPE) as group:
        chunk = group.generate(5, "leader")
        assert chunk.shape == SHAPE
        assert (chunk == 5).all()
        assert group.generate(6, ("leader", 2)).shape == (2, *SHAPE[1:])


@pytest.mark.parametrize("world_size", [2, 4])
def test_ranks_share_the_frames(make_group: MakeGroup, world_size: int) -> None:
    with make_group(Painter, world_size, frame_shape=SHAPE) as group:
        chunk = group.generate(2, "frames_axis")
        each = SHAPE[0] // world_size
        assert [int(frame[0, 0, 0]) for frame in chunk] == [
            20 + row // each for row in range(SHAPE[0])
        ]


@pytest.mark.parametrize("world_size", [2, 4])
def test_every_rank_writes_its_band(make_group: MakeGroup, world_size: int) -> None:
    with make_group(Painter, world_size, frame_shape=SHAPE) as group:
        chunk = group.generate(3, "bands")
        assert chunk.shape == (3, *SHAPE[1:])
        expected = np.repeat(30 + np.arange(world_size), SHAPE[1] // world_size)
        assert (chunk[:, :, 0, 0] == expected).all()


def test_a_shutdown_ends_a_call_in_flight(make_group: MakeGroup) -> None:
    group = make_group(Painter, turn_timeout=60)
    group.start()
    ended: list[BaseException] = []

    def call() -> None:
        try:
            group.generate(0, ("sleep", 60.0, 1))
        except ReactorError as error:
            ended.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    began = time.monotonic()
    wait_for(lambda: "busy" in group.state)
    group.shutdown()
    caller.join(5)
    assert time.monotonic() - began < 3
    assert isinstance(ended[0], WorkerGroupStateError)


def test_the_test_and_its_other_children_are_left_alone(make_group: MakeGroup) -> None:
    other = subprocess.Popen(["sleep", "300"])
    group = make_group(Painter)
    group.start()
    with pytest.raises(WorkerCrashed):
        group.generate(0, ("die", 0))
    assert other.poll() is None
    other.kill()
    other.wait()


def test_what_a_rank_started_ends_with_it(make_group: MakeGroup, marks: Path) -> None:
    group = make_group(Painter)
    group.start()
    group.generate(0, ("spawn", str(marks)))
    texts = [Path(marks, f"rank{rank}").read_text() for rank in range(2)]
    started = [int(pid) for text in texts for pid in text.split()]
    assert all(map(is_alive, started))
    with pytest.raises(WorkerCrashed):
        group.generate(1, ("die", 1))
    assert not any(map(is_alive, started))
