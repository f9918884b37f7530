"""Ranks that live and do not answer."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.process.distributed.traces import is_alive
from tests.process.distributed.workers import Breaks, HangsUp, Painter
from tests.waiting import wait_for

from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerCrashed, WorkerTimeout

MakeGroup = Callable[..., WorkerGroup]
TURN_S = 0.5


def hang(group: WorkerGroup) -> WorkerTimeout:
    group.start()
    pids = group.pids
    began = time.monotonic()
    with pytest.raises(WorkerTimeout) as caught:
        group.generate(0)
    assert time.monotonic() - began < TURN_S + 2.5
    assert not any(map(is_alive, pids))
    return caught.value


def breaking(make_group: MakeGroup, fault: str) -> WorkerGroup:
    told = {"where": 1, "phase": "generate_chunk", "fault": fault}
    limits = {"turn_timeout": TURN_S, "first_turn_timeout": TURN_S}
    return make_group(Breaks, setup_kwargs=told, **limits)


@pytest.mark.parametrize(
    ("fault", "function"), [("endless loop", "loops"), ("native sleep", "sleeps_natively")]
)
def test_the_stack_of_a_silent_rank_is_shown(
    make_group: MakeGroup, fault: str, function: str
) -> None:
    error = hang(breaking(make_group, fault))
    assert (error.rank, error.ranks, error.phase) == (1, (1,), "generate_chunk")
    assert error.timeout_s == TURN_S
    assert error.exit_code is None
    ((rank, stack),) = error.stacks
    assert rank == 1
    assert f"in {function}" in stack
    assert "within 0.5 s" in str(error)


def test_stacks_asked_for_again_are_the_newest_alone(make_group: MakeGroup) -> None:
    group = make_group(Painter)
    group.start()
    seen = [group.stacks() for _ in range(3)]
    assert all(sorted(stacks) == [0, 1] for stacks in seen)
    main = "in _run_module_as_main"
    assert all(stack.count(main) == 1 for stacks in seen for stack in stacks.values())


class Dreams(Painter):
    def generate_chunk(self, index: int, controls: str) -> None:
        asyncio.run(self.dream(controls))

    async def dream(self, name: str) -> None:
        await asyncio.gather(asyncio.create_task(asyncio.sleep(3.0), name=name))


@pytest.mark.parametrize("name", ["deeply", "half of a \ud83d"])
def test_a_rank_that_is_asked_what_its_tasks_wait_for_goes_on(
    make_group: MakeGroup, name: str
) -> None:
    with make_group(Dreams) as group, ThreadPoolExecutor(1) as thread:
        generated = thread.submit(group.generate, 0, name)
        shown = name.encode("ascii", "backslashreplace").decode()
        wait_for(lambda: f"{shown} waits at" in group.stacks()[0])
        generated.result(timeout=10)
        assert group.healthy


def test_a_stopped_rank_is_called_stopped(make_group: MakeGroup) -> None:
    error = hang(breaking(make_group, "SIGSTOP"))
    assert error.ranks == (1,)
    assert "stopped" in error.stacks[0][1]


def test_a_rank_stopped_between_calls_shows_at_the_next(make_group: MakeGroup) -> None:
    group = make_group(Painter, turn_timeout=TURN_S, first_turn_timeout=TURN_S)
    group.start()
    os.kill(group.pids[0], signal.SIGSTOP)
    assert group.healthy
    with pytest.raises(WorkerTimeout) as caught:
        group.generate(0, "nothing")
    assert caught.value.ranks == (0,)
    assert "stopped" in caught.value.stacks[0][1]


def test_all_silent_ranks_are_named(make_group: MakeGroup) -> None:
    group = make_group(Painter, 2, turn_timeout=TURN_S, first_turn_timeout=30)
    group.start()
    group.generate(0, "nothing")
    for pid in group.pids:
        os.kill(pid, signal.SIGSTOP)
    with pytest.raises(WorkerTimeout, match="ranks 0, 1 did not answer"):
        group.generate(1, "nothing")


def test_the_first_chunk_may_take_longer(make_group: MakeGroup) -> None:
    with make_group(Painter, turn_timeout=TURN_S, first_turn_timeout=30) as group:
        group.generate(0, ("sleep", 2 * TURN_S, 1))
        with pytest.raises(WorkerTimeout):
            group.generate(1, ("sleep", 3 * TURN_S, 1))


def test_a_load_that_hangs_is_seen(make_group: MakeGroup) -> None:
    told = {"where": 1, "phase": "setup", "fault": "endless loop"}
    group = make_group(Breaks, setup_kwargs=told, load_timeout=1.5)
    with pytest.raises(WorkerTimeout) as caught:
        group.start()
    assert (caught.value.ranks, caught.value.phase) == ((1,), "setup")
    assert caught.value.timeout_s == 1.5


def test_a_rank_stuck_in_the_start_of_a_session_breaks_the_group(make_group: MakeGroup) -> None:
    group = make_group(Hesitates, settle_timeout=0.4)
    group.start()
    with pytest.raises(Exception, match="rank 0 raised ValueError") as caught:
        group.start_session()
    assert "no answer yet from ranks 1" in " ".join(caught.value.__notes__)
    assert not group.healthy


class Hesitates(Painter):
    def start_session(self, params: object) -> None:
        if self.is_leader:
            raise ValueError("not me")
        time.sleep(60)


def test_a_rank_that_hangs_up_and_lives_is_dead_to_the_group(make_group: MakeGroup) -> None:
    group = make_group(HangsUp)
    group.start()
    pids = group.pids
    with pytest.raises(WorkerCrashed) as caught:
        group.generate(0)
    assert not isinstance(caught.value, WorkerTimeout)
    assert (caught.value.rank, caught.value.exit_code) == (1, None)
    assert not any(map(is_alive, pids))
