"""WorkerProcess: the parent's handle on one rank's process. The only place that starts one."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from reactor_runtime.distributed.anonymous_memory import make_anonymous_file
from reactor_runtime.distributed.channel import Channel, make_socket_pair
from reactor_runtime.distributed.rank_environment import python_command
from reactor_runtime.distributed.rank_life import STACKS_SIGNAL
from reactor_runtime.distributed.rank_output import RankOutput
from reactor_runtime.distributed.readiness import is_readable

_PROGRAM: Final = "reactor_runtime.distributed.worker_main"
_PIPES: Final = ("stdout", "stderr", "log")
_PIPE_BYTES: Final = 256 << 10
_REAP_S: Final = 5.0  # seconds that a process has to be gone once it is killed


class WorkerProcess:
    """One rank's process, from its start to its end.

    The thread that makes it must outlive it: the kernel ends the rank with that thread.

    Args:
        rank: The rank.
        environment: The whole environment.
        answers_file: The open far end of the mailbox the rank answers into.
        store_file: An open file the rank inherits for the process group; -1 for none.
        fields: Returns fields for every line the rank logs.

    Attributes:
        rank: The rank.
        channel: The line to it.
        outputs: Its pipes.
        exit_file: Can be read once it has ended; -1 where there is no such file.

    Raises:
        OSError: The machine has no more processes or open files; nothing is left open.
        ValueError: The environment has a zero character in it.
    """

    def __init__(
        self,
        rank: int,
        environment: Mapping[str, str],
        answers_file: int,
        store_file: int,
        fields: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.rank = rank
        self.outputs: list[RankOutput] = []
        self._reaping = threading.Lock()
        self._stacks, self._stacks_seen, self.exit_file = -1, 0, -1
        own_end, far_end = make_socket_pair()
        self.channel = Channel(own_end)
        pipes: list[int] = []  # the ends that the rank writes to
        try:
            self._stacks = make_anonymous_file("reactor-stacks")
            for name in _PIPES:
                read, write = _make_pipe()
                pipes.append(write)
                self.outputs.append(RankOutput(rank, read, name, fields))
            out, err, log = pipes
            files = (far_end.fileno(), answers_file, self._stacks, log)
            self._popen = subprocess.Popen(
                python_command(_PROGRAM, os.getpid(), rank, *files),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=dict(environment),
                pass_fds=(*files, store_file) if store_file >= 0 else files,
                start_new_session=True,
            )
            self.exit_file = _open_pidfd(self._popen.pid)
        except BaseException:
            self.close()
            raise
        finally:
            far_end.close()
            for write in pipes:
                os.close(write)

    @property
    def pid(self) -> int:
        """The process' number."""
        return self._popen.pid

    def exit_code(self) -> int | None:
        """Return how it ended, minus the signal that killed it; ``None`` while it lives."""
        with self._reaping:  # two at once, and one of them learns nothing
            return self._popen.poll()

    def wait(self, within_s: float) -> int | None:
        """Wait for its end; ``None`` when it still lives after *within_s* seconds."""
        if self.exit_file >= 0:
            is_readable(self.exit_file, within_s)
            return self.exit_code()
        with suppress(subprocess.TimeoutExpired):
            return self._popen.wait(max(0.0, within_s))
        return None

    def signal(self, number: int) -> None:
        """Send it a signal; nothing happens once it has ended."""
        self._popen.send_signal(number)

    def state(self) -> str:
        """Return the kernel's letter for what it does, such as ``S`` or ``T``; ``?`` if unknown."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
            return text.rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return "?"

    def ask_for_stacks(self) -> None:
        """Have the rank write its stacks; those it wrote before are not read again."""
        with suppress(OSError):  # closed: another thread ends the group
            self._stacks_seen = os.fstat(self._stacks).st_size
            self.signal(STACKS_SIGNAL)

    def read_stacks(self) -> str:
        """Return what the rank has written of its stacks since it was asked."""
        with suppress(OSError):  # closed: another thread ends the group
            size = os.fstat(self._stacks).st_size - self._stacks_seen
            return os.pread(self._stacks, size, self._stacks_seen).decode("utf-8", "replace")
        return ""

    def last_words(self) -> str:
        """Return the end of what it wrote to standard error."""
        return self.outputs[1].last_words()

    def close(self) -> None:
        """Let go of every file. The process must have ended, or never begun. Idempotent."""
        self.channel.close()
        for output in self.outputs:
            output.close()
        files = (self._stacks, self.exit_file)
        self._stacks = self.exit_file = -1
        for file in files:
            if file >= 0:
                os.close(file)


class GuardProcess:
    """The small process that outlives this one by a moment and ends what is left of a group.

    Args:
        mark: What the group's processes bear in their environment.
    """

    def __init__(self, mark: str) -> None:
        program = Path(__file__).with_name("orphan_guard.py")
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-S", str(program), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={},
        )

    def call_off(self) -> None:
        """End it; nothing is left for it to do. Idempotent."""
        assert self._popen.stdin is not None
        self._popen.send_signal(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_REAP_S)
        self._popen.stdin.close()


def _make_pipe() -> tuple[int, int]:
    """Return a pipe whose reading end does not block."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    with suppress(OSError, AttributeError):
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read, write


def _open_pidfd(pid: int) -> int:
    """Return a file that can be read once the process has ended; -1 where there is none."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
