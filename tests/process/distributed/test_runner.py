"""DistributedRunner: the facade for existing model halves."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.waiting import wait_for

from reactor_runtime.distributed import (
    DistributedRunner,
    DistributedWorker,
    RankDesync,
    WorkerCrashed,
    WorkerTimeout,
)
from reactor_runtime.errors import WorkerGroupStateError

MakeRunner = Callable[..., DistributedRunner]


class HalfError(Exception):
    pass


class Half:
    """Any class will do."""

    rank: int
    world_size: int
    device: str

    def load(self, start: int = 0) -> None:
        if start < 0:
            raise HalfError("too cold")
        self.total = start
        self.seen = (self.rank, self.world_size, self.device)
        self.kept: list[Any] = []

    def generate(self, request: Any) -> Any:
        what, *rest = request if isinstance(request, tuple) else (request,)
        return getattr(self, what)(*rest)

    def add(self, number: int) -> int:
        self.total += number
        return self.total

    def place(self) -> tuple[int, int, str]:
        return self.seen

    def pid(self) -> int:
        return os.getpid()

    def frames(self) -> dict[str, Any]:
        wide = np.arange(4 * 60 * 80 * 3, dtype=np.uint8).reshape(4, 60, 80, 3)
        return {
            "video": wide,
            "part": wide[:, :, ::2],
            "turned": np.asfortranarray(wide[0, :, :, 0]),
        }

    def mean_of(self, pixels: Any) -> float:
        pixels[0] = 0
        return float(pixels.mean())

    def keep(self, pixels: Any) -> float:
        self.kept.append(pixels)
        return float(sum(int(x.flat[-1]) for x in self.kept))

    def fail(self, *ranks: int) -> None:
        if self.rank in ranks:
            raise HalfError(f"rank {self.rank}")

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self) -> None:
        time.sleep(60)

    def reset(self) -> None:
        self.total = 0


class Bare(DistributedWorker):
    def generate(self, request: Any) -> Any:
        return (request, self.is_leader)


@pytest.fixture
def make_runner() -> Iterator[MakeRunner]:
    runners: list[DistributedRunner] = []

    def make(worker: type[Any] = Half, world_size: int = 2, **options: Any) -> DistributedRunner:
        runner = DistributedRunner(worker, world_size, init_process_group=False, **options)
        runners.append(runner)
        return runner

    yield make
    for runner in runners:
        runner.shutdown()


@pytest.mark.parametrize("world_size", [1, 2])
def test_load_generate_reset(make_runner: MakeRunner, world_size: int) -> None:
    runner = make_runner(world_size=world_size, load_kwargs={"start": 5})
    assert not runner.healthy
    runner.start()
    assert runner.healthy
    assert runner.world_size == world_size
    assert runner.generate(("add", 2)) == 7
    runner.reset()
    assert runner.generate(("add", 1)) == 1
    assert runner.generate("place") == (0, world_size, "cpu")
    runner.shutdown()
    assert not runner.healthy
    with pytest.raises(WorkerGroupStateError):
        runner.generate("place")


def test_a_worker_needs_no_load_or_reset(make_runner: MakeRunner) -> None:
    with make_runner(Bare) as runner:
        runner.reset()
        assert runner.generate("x") == ("x", True)


def test_results_are_contiguous_and_the_callers_own(make_runner: MakeRunner) -> None:
    with make_runner() as runner:
        first = runner.generate("frames")
        wide = np.arange(4 * 60 * 80 * 3, dtype=np.uint8).reshape(4, 60, 80, 3)
        assert (first["part"] == wide[:, :, ::2]).all()
        assert (first["turned"] == wide[0, :, :, 0]).all()
        for array in first.values():
            assert array.flags.c_contiguous
            assert array.flags.writeable
            array[:] = 1
        second = runner.generate("frames")
        assert (second["video"] == wide).all()
        assert (first["video"] == 1).all()
    assert (second["video"] == wide).all()


def test_a_rank_may_change_and_keep_what_it_was_given(make_runner: MakeRunner) -> None:
    pixels = np.full((2, 200, 300), 8, np.uint8)
    with make_runner() as runner:
        for _ in range(3):
            assert runner.generate(("mean_of", pixels)) == 4.0
        assert (pixels == 8).all()
        totals = [
            runner.generate(("keep", np.full((200, 300), value, np.uint8))) for value in (1, 2, 3)
        ]
        assert totals == [1.0, 3.0, 6.0]


def test_an_exception_of_all_ranks_keeps_its_type(make_runner: MakeRunner) -> None:
    with make_runner() as runner:
        with pytest.raises(HalfError) as caught:
            runner.generate(("fail", 0, 1))
        assert "raised on all 2 ranks" in caught.value.__notes__[-1]
        assert runner.healthy
        assert runner.generate(("add", 1)) == 1


def test_an_exception_of_some_ranks_is_a_desync(make_runner: MakeRunner) -> None:
    runner = make_runner()
    runner.start()
    with pytest.raises(RankDesync, match="rank 1 raised HalfError: rank 1") as caught:
        runner.generate(("fail", 1))
    assert caught.value.ranks == (1,)
    assert isinstance(caught.value.__cause__, HalfError)
    assert not runner.healthy
    with pytest.raises(RankDesync):
        runner.generate("place")


def test_what_load_raises_comes_out_of_start(make_runner: MakeRunner) -> None:
    runner = make_runner(load_kwargs={"start": -1})
    with pytest.raises(HalfError, match="too cold"):
        runner.start()
    assert not runner.healthy


def test_a_death_is_named(make_runner: MakeRunner) -> None:
    runner = make_runner()
    runner.start()
    with pytest.raises(WorkerCrashed) as caught:
        runner.generate("die")
    assert caught.value.phase == "generate"
    assert caught.value.exit_code == -signal.SIGKILL


def test_a_death_between_calls_is_seen(make_runner: MakeRunner) -> None:
    runner = make_runner()
    runner.start()
    os.kill(runner.generate("pid"), signal.SIGKILL)
    wait_for(lambda: not runner.healthy, 1)
    with pytest.raises(WorkerCrashed):
        runner.generate("pid")


def test_silence_is_a_timeout(make_runner: MakeRunner) -> None:
    runner = make_runner(call_timeout=0.5)
    runner.start()
    with pytest.raises(WorkerTimeout) as caught:
        runner.generate("hang")
    assert caught.value.ranks == (0, 1)
