"""The keeper of one task: whatever ends it or its command, nothing is left below it."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator

import pytest
from tests.process.cli import environment
from tests.process.launcher.cluster import bearing, soon, wait_for

from reactor_runtime.launcher.task_keeper import TIMED_OUT_STATUS
from reactor_runtime.launcher.torchrun import TASK_KEEPER

TERMINATED, KILLED = 128 + signal.SIGTERM, 128 + signal.SIGKILL
STUBBORN = "trap '' TERM; sleep 300"


class Kept:
    """A keeper with a shell as its command; all of it bears a mark."""

    def __init__(self) -> None:
        self.mark = f"KEEPER_MARK={uuid.uuid4().hex}"
        self.process: subprocess.Popen[bytes]

    def start(self, script: str, **limits: str) -> None:
        options = {"grace": "1", "silence": "300", "timeout": "0", **limits}
        flags = [word for name, value in options.items() for word in (f"--{name}", value)]
        key, value = self.mark.split("=")
        self.process = subprocess.Popen(
            [sys.executable, "-m", TASK_KEEPER, *flags, "--", "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(REACTOR_AGENT_PID=str(os.getpid()), **{key: value}),
        )

    def start_sleeping(self, script: str = "sleep 300", **limits: str) -> None:
        """Return once the script sleeps."""
        self.start(script, **limits)
        wait_for(lambda: "sleep 300 " in bearing(self.mark).values(), "the script sleeps")

    def say(self, word: bytes) -> None:
        assert self.process.stdin is not None
        os.write(self.process.stdin.fileno(), word)

    def leave(self) -> None:
        """End as an agent that was killed: its end of the pipe is closed."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def status(self) -> int:
        """Return how the keeper ended; nothing of it is left then."""
        status = self.process.wait(60)
        assert bearing(self.mark) == {}
        return status


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    with made.process:
        made.leave()
    for pid in bearing(made.mark):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", KILLED)]
)
def test_it_ends_with_the_commands_status(kept: Kept, script: str, status: int) -> None:
    kept.start(script)
    assert kept.status() == status


def test_what_left_the_commands_session_goes_with_it_and_nobody_else(kept: Kept) -> None:
    with subprocess.Popen(["sleep", "300"]) as neighbour:
        kept.start("setsid sh -c 'sleep 300 & sleep 300' & sleep 300 & exit 3")
        assert kept.status() == 3
        assert neighbour.poll() is None
        neighbour.kill()


def test_the_command_has_a_process_group_of_its_own(kept: Kept) -> None:
    kept.start("cut -d ' ' -f 5 /proc/$$/stat; echo $$")
    assert kept.process.stdout is not None
    group, pid = kept.process.stdout.read().split()
    assert group == pid


def test_the_agents_death_ends_all_even_what_ignores_sigterm(kept: Kept) -> None:
    kept.start_sleeping(STUBBORN)
    left_at = time.monotonic()
    kept.leave()
    assert kept.status() == KILLED
    assert time.monotonic() - left_at < soon()


def test_a_cancelled_command_is_asked_to_end(kept: Kept) -> None:
    kept.start_sleeping("trap 'exit 5' TERM; sleep 300 & wait")
    kept.say(b"c")
    assert kept.status() == 5


def test_silence_ends_the_command(kept: Kept) -> None:
    kept.start("exec sleep 300", silence="1")
    assert kept.status() == TERMINATED


def test_a_sign_of_life_now_and_then_is_enough(kept: Kept) -> None:
    limit_s = soon(2)
    kept.start("exec sleep 300", silence=f"{limit_s:g}")
    ends_at = time.monotonic() + 2 * limit_s
    while time.monotonic() < ends_at:
        kept.say(b".")
        assert kept.process.poll() is None
        time.sleep(limit_s / 20)  # the rhythm is what is tested
    kept.say(b"c")
    assert kept.status() == TERMINATED


def test_a_command_past_its_time_is_told_apart(kept: Kept) -> None:
    kept.start("exec sleep 300", timeout="1")
    assert kept.status() == TIMED_OUT_STATUS


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, TERMINATED), (signal.SIGINT, TERMINATED)]
)
def test_a_keeper_told_to_stop_ends_its_command_first(kept: Kept, number: int, status: int) -> None:
    kept.start_sleeping("exec sleep 300")
    kept.process.send_signal(number)
    assert kept.status() == status


def test_a_killed_keeper_takes_its_command_along(kept: Kept) -> None:
    kept.start_sleeping("exec sleep 300")
    kept.process.kill()
    wait_for(lambda: not bearing(kept.mark), "the command is gone")
