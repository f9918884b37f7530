"""Ways for a rank to go wrong, by name."""

import ctypes
import os
import signal
import sys
from typing import NoReturn


class Unreadable:
    """Can be sent, and cannot be made again where it arrives."""

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return raises, ()


class UnpicklableError(Exception):
    """Cannot be carried to another process."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")
        self.lock = open(os.devnull)  # noqa: SIM115


def raises() -> NoReturn:
    raise ValueError("a fault of the author")


def raises_unpicklable() -> NoReturn:
    raise UnpicklableError("cannot", "travel")


def exits() -> NoReturn:
    sys.exit(0)


def exits_at_once() -> NoReturn:
    os._exit(3)


def kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes() -> None:
    ctypes.string_at(0)


def stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def loops() -> NoReturn:
    while True:
        pass


def sleeps_natively() -> None:
    libc = ctypes.PyDLL(None)  # holds the interpreter's lock
    for _ in range(1000):
        libc.sleep(1000)


def floods_stdout() -> None:
    line = "x" * 99 + "\n"
    block = line * 10_000
    for _ in range(100):
        sys.stdout.write(block)


FAULTS = {
    "raise": raises,
    "unpicklable raise": raises_unpicklable,
    "sys.exit(0)": exits,
    "os._exit(3)": exits_at_once,
    "SIGKILL": kills_itself,
    "SIGSEGV": crashes,
    "SIGSTOP": stops_itself,
    "endless loop": loops,
    "native sleep": sleeps_natively,
    "100 MB on stdout": floods_stdout,
}
