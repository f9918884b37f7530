"""Tying a process to its parent by the kernel's parent-death signal; does nothing off Linux."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Have this process get *signal_number* when the thread that made it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Have orphans among this process's descendants become its children."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def leave_unless_child_of(pid: int) -> None:
    """End this process when its parent is no longer *pid*: it died before the tether held."""
    if os.getppid() != pid:
        os._exit(128 + signal.SIGKILL)


def leave_if_adopted_by(pid: int) -> None:
    """End this process when *pid*, who adopts orphans, has become its parent."""
    if os.getppid() == pid:
        os._exit(128 + signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
