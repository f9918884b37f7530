"""A model whose ranks meet in real collectives: gloo, on the CPU, in the pool."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.contract.model_host.recording_outlet import RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage
from tests.models.adds_up_together import AddsUpTogether

from reactor_runtime.host.host_outlet import FailureKind, HostFailure
from reactor_runtime.host.host_settings import HostSettings, OnFailure
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.worker_pool_host import WorkerPoolHost

pytestmark = pytest.mark.torch
Serve = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(world_size: int) -> Stage:
            outlet = RecordingOutlet()
            host = WorkerPoolHost(
                AddsUpTogether,
                outlet=outlet,
                pool=PoolSettings(world_size=world_size, device="cpu", load_timeout_s=90.0),
                config_path=tmp_path,
                settings=HostSettings(on_failure=OnFailure.EXIT),
            )
            return Stage(await stack.enter_async_context(host), outlet)

        yield start


def printed_by_ranks(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "rank_output" in r.getMessage()]


async def test_ranks_meet_and_leave_in_peace(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stage = await serve(2)
    stage.open()
    assert await stage.shown(3) == [2] * 3
    await stage.host.stop()
    ends = [(tmp_path / f"end{rank}").read_text() for rank in range(2)]
    assert ends == ["gone"] * 2  # barrier and destroy are through, nobody was killed
    assert stage.outlet.of(HostFailure) == []
    assert printed_by_ranks(caplog) == []


@pytest.mark.parametrize(
    ("world_size", "rank", "way", "kind", "message"),
    [
        (2, 0, "stay_away", FailureKind.STEP, "ZeroDivisionError"),
        (2, 1, "leave_between_two", FailureKind.STEP, "ZeroDivisionError"),
        (2, 0, "hang_up", FailureKind.STEP, "ZeroDivisionError"),
        (4, 2, "hang_up", FailureKind.STEP, "ZeroDivisionError"),
        (2, 1, "die", FailureKind.HOST, "WorkerCrashed"),
    ],
)
async def test_who_broke_in_a_collective_is_named_and_not_who_waited(
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
    world_size: int,
    rank: int,
    way: str,
    kind: FailureKind,
    message: str,
) -> None:
    caplog.set_level(logging.INFO)
    stage = await serve(world_size)
    stage.open()
    await stage.shown(3)
    await stage.ask("break_in_step", way=way, rank=rank)
    began = time.monotonic()
    (failure,) = await stage.outlet.next(HostFailure)
    assert time.monotonic() - began < 3  # an idle machine needs a fifth of that
    assert failure == HostFailure(kind=kind, session_id="s1", message=message, fatal=True)
    await stage.closed()
    (told,) = [r for r in caplog.records if r.levelno >= logging.ERROR and "failed" in r.message]
    assert f"ranks=[{rank}]" in told.getMessage()
    assert printed_by_ranks(caplog) == []
    await asyncio.wait_for(stage.host.stop(), 10)
    assert len(stage.outlet.of(Shown)) >= 3
