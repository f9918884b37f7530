"""StopSignals in a process of its own: what the first and the second signal do."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PROGRAM = """
import asyncio, sys, time
from reactor_runtime.stop_signals import StopSignals

async def main(stop):
    print("up", flush=True)
    await stop.wait()
    print("asked", stop.first.name, flush=True)
    {then}

with StopSignals({grace}, 4, "too late") as stop:
    asyncio.run(main(stop))
print("gone", flush=True)
"""


@contextmanager
def running(then: str, grace: float = 10.0) -> Iterator[subprocess.Popen[str]]:
    program = PROGRAM.format(then=then, grace=grace)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks(sig: signal.Signals) -> None:
    with running("pass") as process:
        process.send_signal(sig)
        assert line(process) == f"asked {sig.name}"
        assert line(process) == "gone"
        assert process.wait(5) == 0


@pytest.mark.parametrize("then", ["await asyncio.sleep(60)", "time.sleep(60)", "while True: pass"])
def test_the_second_signal_forces_whatever_is_going_on(then: str) -> None:
    with running(then) as process:
        process.send_signal(signal.SIGTERM)
        assert line(process) == "asked SIGTERM"
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 128 + signal.SIGINT
        assert process.stderr is not None
        assert "forced" in process.stderr.read()


@pytest.mark.parametrize("then", ["await asyncio.sleep(60)", "time.sleep(60)", "while True: pass"])
def test_the_grace_is_kept_whatever_is_going_on(then: str) -> None:
    with running(then, grace=0.3) as process:
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        assert process.wait(5) == 4
        assert time.monotonic() - begun < 3
        assert process.stderr is not None
        assert process.stderr.read() == "too late\n"


def test_a_process_that_ends_for_another_reason_has_the_same_grace() -> None:
    with running("pass", grace=0.3) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    asks_itself = "stop.begin_grace(); time.sleep(60)"
    with running(asks_itself, grace=0.3) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 4


def test_without_a_grace_it_waits_for_ever() -> None:
    with running("time.sleep(0.5)", grace=0) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
