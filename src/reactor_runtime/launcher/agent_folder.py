"""AgentFolder: one agent's work folder, taken for as long as anything that it has started lives.

    <folder>/
        agent     held by the agent alone, until it is told to end
        lock      held by the agent and, by inheritance, by the keeper of each of its tasks
        id        made once, and shown to the control plane
        spool/    reports that the control plane has not taken yet
        tasks/    one folder per task, gone with it

Whoever has got the lock knows that nothing runs any more of what earlier agents started here. So
an agent that shows the folder's id says, by that alone, that their processes are gone.
"""

import fcntl
import os
import shutil
import time
import uuid
from pathlib import Path

from reactor_runtime.errors import SettingError

PATIENCE_S = 15.0  # longer than keepers take to end after their agent's death
_BURIAL_S = 0.5  # a process that was killed a moment ago may still be there
_PAUSE_S = 0.1


class AgentFolder:
    """A context; raises ``SettingError`` where another agent has the folder."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self.path, self._patience_s = path, patience_s
        self._seat: int | None = None
        self._lock: int | None = None

    def __enter__(self) -> "AgentFolder":
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._seat = _locked(self.path / "agent", _BURIAL_S, "which another agent has")
        try:
            self._lock = _locked(
                self.path / "lock", self._patience_s, "where what an ended agent started still runs"
            )
        except BaseException:
            self.leave()
            raise
        shutil.rmtree(self.tasks, ignore_errors=True)  # an earlier agent's, all ended
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def leave(self) -> None:
        """Let the next agent wait for this one's end, instead of being refused."""
        seat, self._seat = self._seat, None
        if seat is not None:
            os.close(seat)

    @property
    def spool(self) -> Path:
        """Where reports wait."""
        return self.path / "spool"

    @property
    def tasks(self) -> Path:
        """Where each task has a folder."""
        return self.path / "tasks"

    @property
    def held(self) -> tuple[int, ...]:
        """The descriptors by which it is held; a child that inherits them holds it, too."""
        return () if self._lock is None else (self._lock,)

    def read_id(self) -> str:
        """Return the folder's own id, which its first agent makes."""
        file = self.path / "id"
        if not file.exists():
            part = file.with_suffix(".part")
            part.write_text(uuid.uuid4().hex)
            os.replace(part, file)
        return file.read_text()


def _locked(file: Path, patience_s: float, why_not: str) -> int:
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(lock)
                found = f"the work folder {file.parent}, {why_not}"
                wanted = "a --name of its own for each agent on a machine, or a --work-dir"
                raise SettingError("--name", found, wanted) from None
            time.sleep(_PAUSE_S)
        else:
            return lock
