"""Ends what a worker group has started and what that started, also when the parent is killed.

Everything below a rank carries the group's mark in its environment. ``sweep`` kills what bears a
mark. Run as a program (``python -I -S orphan_guard.py MARK``, a session of its own) this file waits
for its standard input to end, which the kernel does when the parent dies, and then sweeps.

Out of reach: a process that was started with an emptied environment *and* has left its rank's
session, and one that belongs to another user.
"""

import os
import signal
import sys
import time

_ROUNDS = 50
_PAUSE_S = 0.01
_WITHIN_S = 2.0
_EXEC_S = 0.2
_EXEC_PAUSE_S = 0.001


def sweep(mark: str) -> int:
    """Kill every process whose environment has *mark*, until there is none; return how many."""
    killed: set[int] = set()
    deadline = time.monotonic() + _WITHIN_S
    for _ in range(_ROUNDS):
        found = _marked(mark.encode())
        killed.update(pid for pid in found if _kill(pid, mark.encode()))
        if not found or time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
    return len(killed)


def wait_and_sweep(mark: str) -> None:
    """Wait for the end of standard input, then sweep. Who has no need of it any more kills it."""
    while os.read(0, 1):
        pass
    sweep(mark)


def _marked(mark: bytes) -> list[int]:
    try:
        names = os.listdir("/proc")
    except OSError:  # no such file system: ranks still die with their parent's end of the channel
        return []
    own = os.getpid()
    numbers = [int(name) for name in names if name.isdecimal()]
    return [pid for pid in numbers if pid != own and _bears(pid, mark)]


def _bears(pid: int, mark: bytes) -> bool:
    try:
        return mark in _environment(pid)
    except OSError:
        return False


def _environment(pid: int) -> bytes:
    """Return a process's environment, once the kernel has put it there."""
    deadline = time.monotonic() + _EXEC_S
    while True:
        in_exec = _in_exec(pid)  # asked first: its exec may end in between
        environment = _read(pid, "environ")
        if environment or not in_exec or time.monotonic() > deadline:
            return environment
        time.sleep(_EXEC_PAUSE_S)


def _in_exec(pid: int) -> bool:
    """Tell whether a process runs a program whose environment the kernel is still to write.

    It has a size and no end of the environment then (proc(5): fields 23 and 51 of ``stat``); one
    with an empty environment has an end, and a kernel thread and a zombie have no size.
    """
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[20]) > 0 and int(fields[48]) == 0


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
        return file.read()


def _kill(pid: int, mark: bytes) -> bool:
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if _bears(pid, mark):  # the number may have passed to another process
            signal.pidfd_send_signal(process, signal.SIGKILL)
            return True
    except OSError:
        pass
    finally:
        os.close(process)
    return False


if __name__ == "__main__":
    wait_and_sweep(sys.argv[1])
