"""LocalBackend: every node of a job is an agent of its own on this machine."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from reactor_runtime.cores import usable_cores
from reactor_runtime.errors import AgentLostError
from reactor_runtime.launcher.agent_child import AgentChild
from reactor_runtime.launcher.agent_program import AgentSettings
from reactor_runtime.launcher.backend import LaunchBackend
from reactor_runtime.launcher.contracts import DistributedJob


class LocalBackend(LaunchBackend):
    """Its agents are children of this process and die with it."""

    def __init__(self, job: DistributedJob, outputs: Path) -> None:
        super().__init__(job, outputs)
        self._children: list[AgentChild] = []

    @contextlib.contextmanager
    def _joined(self) -> Iterator[str]:
        yield "127.0.0.1"

    @contextlib.contextmanager
    def _agents(self, folder: Path, settings: list[AgentSettings]) -> Iterator[None]:
        share = max(1, usable_cores() // len(settings))
        with contextlib.ExitStack() as stack:
            for each in settings:
                own = folder / each.name
                own.mkdir()
                update = {"work_dir": own, "parent_pid": os.getpid(), "cores": share}
                placed = each.model_copy(update=update)
                self._children.append(stack.enter_context(AgentChild(placed, own)))
            stack.callback(self._stop_all)  # together, before each is waited for
            yield

    def check(self) -> None:
        """Look whether the agents still run; raises as the base class says."""
        for child in self._children:
            if (words := child.last_words()) is not None:
                raise AgentLostError(child.name, words)

    def _stop_all(self) -> None:
        for child in self._children:
            child.stop()
