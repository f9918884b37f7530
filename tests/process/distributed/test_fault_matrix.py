"""Every fault in every phase on the first and the last rank, at world size 2 and 4.

``make test`` runs a set of cells in which every pair of values occurs; ``MATRIX=all``, which
``make test-matrix`` sets, runs all of them.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.process.distributed.fault_table import (
    DEADLINE_S,
    DEATH_SEEN_S,
    IMPORT_S,
    PHASES,
    Cell,
    Expected,
    all_cells,
    covering_cells,
    expected,
)
from tests.process.distributed.faults import FAULTS
from tests.process.distributed.traces import is_alive
from tests.process.distributed.workers import Breaks
from tests.waiting import wait_for

from reactor_runtime.distributed.teardown import Ending
from reactor_runtime.distributed.verbs import Setup, Warmup
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerCrashed, WorkerError, WorkerTimeout

CELLS = all_cells() if os.environ.get("MATRIX") == "all" else covering_cells()
LIMITS = {
    "turn_timeout": DEADLINE_S,
    "first_turn_timeout": DEADLINE_S,
    "settle_timeout": DEADLINE_S,
}
REPORT_S = 1.5  # seconds that stacks, terminating and killing may take after a deadline


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A child of the test that has nothing to do with the group."""
    child = subprocess.Popen(["sleep", "300"])
    yield child
    assert child.poll() is None
    child.kill()
    child.wait()


def test_the_table_has_every_cell() -> None:
    for phase in PHASES:
        for fault in FAULTS:
            found = expected(phase, fault)
            assert found.words()
            if found.error is not None:
                assert found.reported
    pairs = {(cell.phase, cell.fault) for cell in covering_cells()}
    assert pairs == {(cell.phase, cell.fault) for cell in all_cells()}


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.usefixtures("bystander")
def test_a_fault_is_named_in_time_and_leaves_nothing(
    cell: Cell,
    make_group: Callable[..., WorkerGroup],
    marks: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = expected(cell.phase, cell.fault)
    monkeypatch.setenv("MARKS", str(marks))
    monkeypatch.setenv("FAULT", cell.fault)
    if cell.phase == "import":
        monkeypatch.setenv("BREAK_ON_IMPORT", str(cell.rank))
    told = {"where": cell.rank, "phase": cell.phase, "fault": cell.fault, "marks": str(marks)}
    load_s = IMPORT_S if (cell.phase, wanted.error) == ("import", WorkerTimeout) else 30.0
    group = make_group(Breaks, cell.world_size, setup_kwargs=told, load_timeout=load_s, **LIMITS)
    pids: list[int] = []
    if wanted.error is None:
        live(group, cell, told, marks, pids)
        stop(group, cell)
    else:
        with pytest.raises(wanted.error) as caught:
            live(group, cell, told, marks, pids)
        check(caught.value, time.monotonic(), cell, wanted, marks)
        if wanted.survives:
            assert group.healthy
            group.shutdown()
        assert not group.healthy
    assert not any(map(is_alive, pids))


def live(
    group: WorkerGroup, cell: Cell, told: dict[str, Any], marks: Path, pids: list[int]
) -> None:
    load(group, cell, told)
    pids += group.pids
    group.start_session("a session")
    group.generate(0)
    if cell.phase == "idle":
        wait_for(Path(marks, "reached").exists)
        if issubclass(expected("idle", cell.fault).error or Exception, WorkerTimeout):
            time.sleep(0.05)  # the mark is made just before the fault
        elif expected("idle", cell.fault).error is not None:
            wait_for(lambda: not group.healthy)
            assert seconds_since_reached(marks) < DEATH_SEEN_S
    group.generate(1)
    group.end_session()


def load(group: WorkerGroup, cell: Cell, told: dict[str, Any]) -> None:
    """Start the ranks; where they will hang, measure from when their interpreters have started."""
    if expected(cell.phase, cell.fault).error is not WorkerTimeout:
        group.start()
        return
    group.start(())
    group.call(Setup(told), DEADLINE_S)
    group.call(Warmup(), DEADLINE_S)


def stop(group: WorkerGroup, cell: Cell) -> None:
    began = time.monotonic()
    group.shutdown()
    assert time.monotonic() - began < DEADLINE_S + REPORT_S
    if cell.phase == "exit" and cell.fault in ("endless loop", "native sleep", "SIGSTOP"):
        assert group.endings[cell.rank] in (Ending.TERMINATED, Ending.KILLED)
    else:
        assert set(group.endings.values()) == {Ending.BY_ITSELF}


def check(error: Exception, seen_at: float, cell: Cell, wanted: Expected, marks: Path) -> None:
    assert isinstance(error, WorkerError | WorkerCrashed)
    assert (error.rank, error.phase) == (cell.rank, wanted.reported)
    took_s = seen_at - reached_at(marks)
    if isinstance(error, WorkerTimeout):
        assert error.ranks == (cell.rank,)
        assert error.timeout_s == wanted.deadline_s
        assert took_s < wanted.deadline_s + REPORT_S
        words = "stopped" if cell.fault == "SIGSTOP" else "faults.py"
        assert words in error.stacks[0][1]
    elif isinstance(error, WorkerCrashed):
        assert error.exit_code == wanted.exit_code
        assert took_s < DEATH_SEEN_S or cell.phase == "idle"
    else:
        assert took_s < DEATH_SEEN_S


def reached_at(marks: Path) -> float:
    return float(Path(marks, "reached").read_text())


def seconds_since_reached(marks: Path) -> float:
    return time.monotonic() - reached_at(marks)
