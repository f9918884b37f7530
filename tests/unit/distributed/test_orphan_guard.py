"""The sweep and the guard: real processes that bear a mark, and one that does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reactor_runtime.distributed.orphan_guard as guard_module
from reactor_runtime.distributed.orphan_guard import sweep

MARK = "ORPHAN_TEST"


@pytest.fixture
def mark() -> str:
    return os.urandom(8).hex()


def sleeper(mark: str, **options: bool) -> subprocess.Popen[bytes]:
    env = {MARK: mark} if mark else {}
    return subprocess.Popen(["/bin/sleep", "300"], env=env, **options)  # type: ignore[call-overload,no-any-return]


def test_a_sweep_kills_what_bears_the_mark_and_nothing_else(mark: str) -> None:
    marked = [sleeper(mark), sleeper(mark, start_new_session=True)]
    other = sleeper("")
    assert sweep(mark) == 2
    assert [process.wait(5) for process in marked] == [-9, -9]
    assert other.poll() is None
    other.kill()
    other.wait()
    assert sweep(mark) == 0


@pytest.mark.parametrize("called_off", [False, True])
def test_a_guard_sweeps_when_its_input_ends(mark: str, called_off: bool) -> None:
    marked = sleeper(mark)
    program = Path(guard_module.__file__)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(program), mark], stdin=subprocess.PIPE, env={}
    ) as guard:
        assert guard.stdin is not None
        if called_off:
            guard.stdin.write(b"!")
        guard.stdin.close()
        assert guard.wait(10) == 0
    assert (marked.poll() is None) is called_off or marked.wait(5) == -9
    marked.kill()
    marked.wait()
