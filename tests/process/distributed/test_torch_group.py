"""A real process group: gloo, on the CPU."""

import ast
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.e2e.process_figures import listening
from tests.process.distributed.torch_workers import DiesInCollective, Sums

from reactor_runtime.distributed.process_group import HostedStore
from reactor_runtime.distributed.teardown import Ending
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerCrashed, WorkerError

pytestmark = pytest.mark.torch
MakeGroup = Callable[..., WorkerGroup]
TORCH = {"init_process_group": True, "device": "cpu", "load_timeout": 90.0}


@pytest.fixture(scope="module", autouse=True)
def opened_with_the_first_store() -> None:
    """Have torch open its own pipe, which then stays for the life of the process."""
    HostedStore().close()


def results(what: str, folder: Path, world_size: int) -> list[object]:
    return [
        ast.literal_eval(Path(folder, f"{what}{rank}").read_text()) for rank in range(world_size)
    ]


def printed_by_ranks(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "rank_output" in r.getMessage()]


def test_collectives_of_the_world_and_of_parts_of_it(
    make_group: MakeGroup, marks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    group = make_group(Sums, 4, **TORCH)
    group.start()
    group.start_session(seed=11)
    for index, what in enumerate(("world", "half", "mesh", "drawn", "loaded")):
        group.generate(index, (what, str(marks)))
    group.shutdown()
    assert results("world", marks, 4) == [4.0] * 4
    assert results("half", marks, 4) == [2.0] * 4
    assert results("mesh", marks, 4) == [2.0] * 4
    assert len({str(drawn) for drawn in results("drawn", marks, 4)}) == 1
    assert results("loaded", marks, 4) == [[]] * 4
    assert set(group.endings.values()) == {Ending.BY_ITSELF}
    assert printed_by_ranks(caplog) == []


def test_ranks_meet_in_a_store_on_loopback_where_there_are_no_anonymous_files(
    make_group: MakeGroup, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    group = make_group(Sums, 2, frame_shape=(1, 8, 8, 3), **TORCH)
    group.start()
    ((address, _),) = listening(os.getpid())
    assert address == "127.0.0.1"
    group.generate(0, ("world", str(marks)))
    group.shutdown()
    assert results("world", marks, 2) == [2.0] * 2
    assert set(group.endings.values()) == {Ending.BY_ITSELF}
    assert listening(os.getpid()) == set()


@pytest.mark.parametrize("what", ["broken", "hung_up"])
def test_an_error_beside_a_collective_is_the_one_reported(
    make_group: MakeGroup, marks: Path, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    caplog.set_level(logging.INFO)
    group = make_group(Sums, 2, **TORCH)
    group.start()
    began = time.monotonic()
    with pytest.raises(WorkerError) as caught:
        group.generate(0, (what, str(marks)))
    assert time.monotonic() - began < 3  # an idle machine needs a fifth of that
    assert (caught.value.rank, caught.value.kind) == (1, "ZeroDivisionError")
    echoes = [note for note in caught.value.__notes__ if note.startswith("also: rank 0")]
    assert len(echoes) == (what == "hung_up")
    assert printed_by_ranks(caplog) == []


def test_a_death_beside_a_collective_is_the_one_reported(make_group: MakeGroup) -> None:
    group = make_group(DiesInCollective, 2, **TORCH)
    group.start()
    began = time.monotonic()
    with pytest.raises(WorkerCrashed) as caught:
        group.generate(0)
    assert time.monotonic() - began < 1.5
    assert (caught.value.rank, caught.value.exit_code) == (1, 5)
