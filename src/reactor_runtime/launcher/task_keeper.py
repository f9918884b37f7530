"""The keeper of one task: runs torchrun, and leaves nothing of it behind, whoever dies.

A program (``python -m …task_keeper --grace S --silence S --timeout S -- COMMAND``) between an agent
and torchrun. Orphans below it become its children, so that no descendant can leave its sight. It
listens to its standard input: a ``.`` is a sign of life, a ``c`` cancels, the end is the agent's
death. It ends with torchrun's status, or 128 + n for signal n.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from reactor_runtime.tether import (
    adopt_orphans,
    die_with_parent,
    leave_unless_child_of,
)

TIMED_OUT_STATUS = 124
_SWEEP_S = 5.0
_TIDY_S = 0.5


class TaskKeeper:
    """Watches one command until neither it nor anything it started is left."""

    def __init__(self, *, grace_s: float, silence_s: float, timeout_s: float) -> None:
        self._grace_s, self._silence_s = grace_s, silence_s
        self._ends_at = time.monotonic() + timeout_s if timeout_s > 0 else float("inf")
        self._heard_at = time.monotonic()
        self._stop_by: float | None = None
        self._status: int | None = None
        self._timed_out = self._was_signalled = False
        self._wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)

    def run(self, command: Sequence[str]) -> int:
        """Run *command* to its end, or until told to stop; return its status."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        os.environ["REACTOR_KEEPER_PID"] = str(os.getpid())
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            process_group=0,
            preexec_fn=_tethered,  # safe: this process has one thread
        )
        sources = [0, self._wake]
        while not self._has_ended(child.pid):
            self._look(sources, child.pid)
        sweep()
        if self._timed_out:
            return TIMED_OUT_STATUS
        return self._status if self._status is not None else 1

    def _look(self, sources: list[int], pid: int) -> None:
        now = time.monotonic()
        if self._stop_by is None and now > min(self._heard_at + self._silence_s, self._ends_at):
            self._timed_out = now > self._ends_at
            self._stop(pid)
        if self._stop_by and (now > self._stop_by or self._has_no_rank_left(now, pid)):
            _kill(pid, signal.SIGKILL)
        ready, _, _ = select.select(sources, [], [], 0.1 if self._stop_by else 0.25)
        if self._wake in ready:
            os.read(self._wake, 4096)
        if 0 in ready:
            words = os.read(0, 4096)
            self._heard_at = time.monotonic()
            if not words:
                sources.remove(0)
            if not words or b"c" in words:
                self._stop(pid)
        if self._was_signalled:
            self._stop(pid)

    def _has_no_rank_left(self, now: float, pid: int) -> bool:
        """Whether the command only tidies up, which it may do for ever when its store is gone."""
        had_s = now - ((self._stop_by or now) - self._grace_s)
        return had_s > _TIDY_S and set(descendants(os.getpid())) <= {pid}

    def _stop(self, pid: int) -> None:
        if self._stop_by is None:
            self._stop_by = time.monotonic() + self._grace_s
            _kill(pid, signal.SIGTERM)

    def _on_signal(self, number: int, frame: object) -> None:
        self._was_signalled = True

    def _has_ended(self, pid: int) -> bool:
        """Reap what has ended, adopted orphans too; return whether the command is among it."""
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if ended == pid:
                code = os.waitstatus_to_exitcode(status)
                self._status = code if code >= 0 else 128 - code
                return True
            if ended == 0:
                return False


def sweep() -> None:
    """Kill and reap every descendant of this process, until there is none."""
    deadline = time.monotonic() + _SWEEP_S
    while time.monotonic() < deadline:
        for pid in descendants(os.getpid()):
            _kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def descendants(root: int) -> list[int]:
    """Return the pids below *root*, from the kernel's own list of who is whose child."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _tethered() -> None:
    keeper = int(os.environ["REACTOR_KEEPER_PID"])
    die_with_parent(signal.SIGKILL)
    leave_unless_child_of(keeper)


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def main(arguments: Sequence[str]) -> int:
    """Run the program."""
    split = list(arguments).index("--")
    options = dict(zip(arguments[0:split:2], arguments[1:split:2], strict=True))
    die_with_parent(signal.SIGTERM)
    leave_unless_child_of(int(os.environ["REACTOR_AGENT_PID"]))
    adopt_orphans()
    keeper = TaskKeeper(
        grace_s=float(options["--grace"]),
        silence_s=float(options["--silence"]),
        timeout_s=float(options["--timeout"]),
    )
    return keeper.run(arguments[split + 1 :])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
