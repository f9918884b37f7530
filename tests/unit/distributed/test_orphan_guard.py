"""The sweep and the guard: real processes that bear a mark, and one that does not."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

import reactor_runtime.distributed.orphan_guard as guard_module
from reactor_runtime.distributed.orphan_guard import sweep

MARK = "ORPHAN_TEST"


@pytest.fixture
def mark() -> str:
    return os.urandom(8).hex()


class Sleep(Protocol):
    def __call__(self, mark: str, *, new_session: bool = False) -> subprocess.Popen[bytes]: ...


@pytest.fixture
def sleeper() -> Iterator[Sleep]:
    """Start processes that do nothing, and end them whatever the test came to."""
    started: list[subprocess.Popen[bytes]] = []

    def start(mark: str, *, new_session: bool = False) -> subprocess.Popen[bytes]:
        env = {MARK: mark} if mark else {}
        started.append(
            subprocess.Popen(["/bin/sleep", "300"], env=env, start_new_session=new_session)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_sweep_kills_what_bears_the_mark_and_nothing_else(mark: str, sleeper: Sleep) -> None:
    marked = [sleeper(mark), sleeper(mark, new_session=True)]
    other = sleeper("")
    assert sweep(mark) == 2
    assert [process.wait(5) for process in marked] == [-9, -9]
    assert other.poll() is None
    assert sweep(mark) == 0


def test_a_process_that_has_only_just_started_is_found(
    mark: str, sleeper: Sleep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment is there a moment later than ``Popen`` returns."""
    for _ in range(20):
        process = sleeper(mark)
        # A long list of processes would give it the time it needs.
        monkeypatch.setattr(os, "listdir", lambda _, pid=process.pid: [str(pid)])
        assert sweep(mark) == 1
        assert process.wait(5) == -9


def test_a_guard_sweeps_when_its_input_ends(mark: str, sleeper: Sleep) -> None:
    marked = sleeper(mark)
    program = Path(guard_module.__file__)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(program), mark], stdin=subprocess.PIPE, env={}
    ) as guard:
        assert guard.stdin is not None
        guard.stdin.close()
        assert guard.wait(10) == 0
    assert marked.wait(5) == -9
