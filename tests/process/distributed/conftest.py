"""Every test here starts real processes and ends empty-handed."""

import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.process.distributed.traces import leftovers

from reactor_runtime.distributed.worker_group import WorkerGroup

SETTLE_S = 3.0


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    before = leftovers()
    yield
    gc.collect()
    deadline = time.monotonic() + SETTLE_S
    while (left := leftovers() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == Counter()


@pytest.fixture
def make_group() -> Iterator[Callable[..., WorkerGroup]]:
    """Makes groups without torch and with short bounds; they are shut down at the end."""
    groups: list[WorkerGroup] = []

    def make(worker: type[Any], world_size: int = 2, **options: Any) -> WorkerGroup:
        defaults = {"init_process_group": False, "turn_timeout": 10.0, "load_timeout": 30.0}
        group = WorkerGroup(worker, world_size, **(defaults | options))
        groups.append(group)
        return group

    yield make
    for group in groups:
        group.shutdown()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A folder in which ranks leave files for the test to see."""
    os.makedirs(tmp_path / "marks", exist_ok=True)
    return tmp_path / "marks"
