"""LaunchBackend: a control plane here and an agent on every node, for as long as one job takes."""

import contextlib
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from reactor_runtime.errors import ControlPlaneAbsentError
from reactor_runtime.host_port import join_host_port
from reactor_runtime.launcher.agent_program import AgentSettings
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_program import ControlProgram
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.source_bundle import pack_source
from reactor_runtime.listening_socket import open_sockets
from reactor_runtime.scratch_folder import ScratchFolder

_POLL_S = 0.05


class LaunchBackend(ABC):
    """A context; when it ends, its agents and all they have started have ended.

    Args:
        job: What will be asked for: as many agents, each as large.
        outputs: Folder of the job's outputs.

    Attributes:
        client: Of the control plane.
    """

    client: ControlClient

    def __init__(self, job: DistributedJob, outputs: Path) -> None:
        self._job, self._outputs = job, outputs
        self._stack = contextlib.ExitStack()
        self._folder = Path()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(ScratchFolder("launch")).path
            token = secrets.token_urlsafe(32)
            host = stack.enter_context(self._joined())
            url = stack.enter_context(_control_plane(host, self._folder, self._outputs, token))
            self.client = ControlClient(url, token)
            stack.enter_context(self._agents(self._folder, self._settings(url, token)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @abstractmethod
    def _joined(self) -> contextlib.AbstractContextManager[str]:
        """Be joined to the nodes; the value is this machine's address as they see it."""

    @abstractmethod
    def _agents(
        self, folder: Path, settings: list[AgentSettings]
    ) -> contextlib.AbstractContextManager[object]:
        """Have an agent run on each node."""

    @abstractmethod
    def check(self) -> None:
        """Look whether the agents still run.

        Raises:
            AgentLostError: One has ended; the text has its last words.
        """

    def submit(self, source: Path) -> JobRecord:
        """Pack *source* and queue the job."""
        return self.resubmit(self._job, source)

    def resubmit(self, job: DistributedJob, source: Path) -> JobRecord:
        """Pack *source* and queue *job*, whose nodes are no more and no larger."""
        archive = self._folder / "source.tar.gz"
        pack_source(source, archive)
        return self.client.submit(job, self.client.files.send_source(archive))

    def wait_for_agents(self, within_s: float) -> None:
        """Return once every agent has been taken in.

        Raises:
            ControlPlaneAbsentError: One has not been within *within_s*.
            AgentLostError: One has ended.
        """
        deadline = time.monotonic() + within_s
        while not all(self.client.is_known(self._name(r)) for r in range(self._job.num_workers)):
            self.check()
            if time.monotonic() > deadline:
                raise ControlPlaneAbsentError(self.client.url, "its agents did not register")
            time.sleep(_POLL_S)

    def _settings(self, url: str, token: str) -> list[AgentSettings]:
        return [
            AgentSettings(
                control=url,
                token=token,
                procs=self._job.procs_per_worker,
                name=self._name(rank),
                labels=self._job.labels,
            )
            for rank in range(self._job.num_workers)
        ]

    def _name(self, rank: int) -> str:
        return f"agent{rank}"


@contextlib.contextmanager
def _control_plane(host: str, folder: Path, outputs: Path, token: str) -> Iterator[str]:
    listeners = open_sockets(host, 0)
    program = ControlProgram(state=folder / "state.sqlite", outputs=outputs, token=token)
    with program.in_background(listeners):
        yield f"http://{join_host_port(host, listeners[0].getsockname()[1])}"
