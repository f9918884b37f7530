"""The hosts under test: every test of this folder is a promise each of them keeps."""

import importlib
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.contract.model_host.recording_outlet import RecordingOutlet
from tests.contract.model_host.stage import Stage

from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.worker_pool_host import WorkerPoolHost
from reactor_runtime.model.reactor_model import ReactorModel

MakeHost = Callable[..., ModelHost]
Serve = Callable[..., Awaitable[Stage]]


def model_class(name: str) -> type[ReactorModel]:
    """The one model class of ``tests/models/<name>.py``."""
    module = importlib.import_module(f"tests.models.{name}")
    wanted = name.replace("_", "")
    found: type[ReactorModel] = next(
        value for key, value in vars(module).items() if key.lower() == wanted
    )
    return found


def in_process(
    name: str, outlet: RecordingOutlet, *, config_path: Path | None = None, **settings: Any
) -> ModelHost:
    return InProcessHost(
        model_class(name),
        outlet=outlet,
        config_path=config_path,
        settings=HostSettings(**settings),
    )


def pool_of(world_size: int) -> MakeHost:
    def pool(
        name: str, outlet: RecordingOutlet, *, config_path: Path | None = None, **settings: Any
    ) -> ModelHost:
        return WorkerPoolHost(
            model_class(name),
            outlet=outlet,
            pool=PoolSettings(world_size=world_size, init_process_group=False),
            config_path=config_path,
            settings=HostSettings(**settings),
        )

    return pool


KINDS: dict[str, tuple[int, MakeHost]] = {
    "in_process": (1, in_process),
    "pool_of_1": (1, pool_of(1)),
    "pool_of_2": (2, pool_of(2)),
}


def in_process_only(because: str) -> pytest.MarkDecorator:
    """Mark what ranks in lockstep have no such thing of, *because* of what."""
    assert because
    return pytest.mark.parametrize("kind", ["in_process"], indirect=True)


def each_loop(free: str, lockstep: str) -> pytest.MarkDecorator:
    """Run with each form of one loop, wherever that form may run: one without turns in process."""
    places = [("in_process", free), *((kind, lockstep) for kind in KINDS)]
    return pytest.mark.parametrize(("kind", "loop"), places, indirect=["kind"])


# What a host does beside its ranks, it has no other place for in process.
pools_only = pytest.mark.parametrize("kind", ["pool_of_1", "pool_of_2"], indirect=True)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def make_host(kind: str) -> MakeHost:
    return KINDS[kind][1]


@pytest.fixture
def world_size(kind: str) -> int:
    return KINDS[kind][0]


@pytest.fixture
def outlet() -> RecordingOutlet:
    return RecordingOutlet()


@pytest.fixture
async def serve(make_host: MakeHost, outlet: RecordingOutlet) -> AsyncIterator[Serve]:
    """Start a host by the name of its model; it is stopped when the test ends."""
    async with AsyncExitStack() as stack:

        async def start(name: str, **options: Any) -> Stage:
            host = await stack.enter_async_context(make_host(name, outlet, **options))
            return Stage(host, outlet)

        yield start


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 10
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        for thread in left:
            thread.join(0.1)
    assert left == set()


def warnings_of(caplog: pytest.LogCaptureFixture, part: str) -> list[str]:
    """Return the warnings that hold *part*."""
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    return [said for said in warnings if part in said]
