"""AgentChild: an agent as a child of this process."""

import subprocess
import sys
from pathlib import Path

from reactor_runtime.launcher.agent_program import AgentSettings

_PROGRAM = "reactor_runtime.launcher.agent_program"
_END_S = 3.0


class AgentChild:
    """A context. The kernel ties the child to the thread that enters it.

    Args:
        settings: The agent's; they name this process as its parent.
        folder: For its settings and what it prints.
    """

    def __init__(self, settings: AgentSettings, folder: Path) -> None:
        self.name = settings.name
        self._settings, self._folder = settings, folder
        self._process: subprocess.Popen[bytes]

    def __enter__(self) -> "AgentChild":
        file = self._folder / "settings.json"
        file.touch(mode=0o600)
        file.write_text(self._settings.model_dump_json())
        with (self._folder / "agent.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Ask it to end, then kill it; return when it is gone."""
        self.stop()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def wait(self) -> str:
        """Return its last words once it has ended."""
        self._process.wait()
        return self._tail()

    def last_words(self) -> str | None:
        """Return its last words if it has ended."""
        return None if self._process.poll() is None else self._tail()

    def _tail(self) -> str:
        lines = (self._folder / "agent.log").read_text(errors="replace").split("\n")
        said = next((line for line in reversed(lines) if line.strip()), "nothing")
        return f"it ended with status {self._process.returncode} and said: {said.strip()}"
