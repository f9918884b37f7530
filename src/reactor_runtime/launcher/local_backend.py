"""LocalBackend: a control plane and agents on this machine, for as long as one job takes."""

import asyncio
import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from reactor_runtime.errors import ControlPlaneAbsentError
from reactor_runtime.launcher.agent_program import AgentSettings
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_program import ControlProgram, open_listener
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.source_bundle import pack_source

_AGENT = "reactor_runtime.launcher.agent_program"
_END_S = 3.0
_POLL_S = 0.05


class LocalBackend:
    """A context: agents are children of this process and die with it."""

    def __init__(self, job: DistributedJob, outputs: Path) -> None:
        self._job, self._outputs = job, outputs
        self._stack = contextlib.ExitStack()
        self._folder = Path()

    def __enter__(self) -> "LocalBackend":
        with contextlib.ExitStack() as stack:
            self._folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="reactor-launch-"))
            )
            token = secrets.token_urlsafe(32)
            url = stack.enter_context(_control_plane(self._folder, self._outputs, token))
            self.client = ControlClient(url, token)
            agents = [
                stack.enter_context(self._agent(url, token, rank))
                for rank in range(self._job.num_workers)
            ]
            stack.callback(_terminate, agents)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

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
        """
        deadline = time.monotonic() + within_s
        names = [f"local{rank}" for rank in range(self._job.num_workers)]
        while not all(self.client.is_known(name) for name in names):
            if time.monotonic() > deadline:
                raise ControlPlaneAbsentError(self.client.url, "its agents did not register")
            time.sleep(_POLL_S)

    @contextlib.contextmanager
    def _agent(self, url: str, token: str, rank: int) -> "Iterator[subprocess.Popen[bytes]]":
        folder = self._folder / f"agent{rank}"
        folder.mkdir()
        settings = AgentSettings(
            control=url,
            token=token,
            procs=self._job.procs_per_worker,
            name=f"local{rank}",
            labels=self._job.labels,
            work_dir=folder,
            parent_pid=os.getpid(),
        )
        file = folder / "settings.json"
        file.write_text(settings.model_dump_json())
        with (folder / "agent.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", _AGENT, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            end(process)


@contextlib.contextmanager
def _control_plane(folder: Path, outputs: Path, token: str) -> Iterator[str]:
    listener = open_listener("127.0.0.1", 0)
    program = ControlProgram(state=folder / "state.sqlite", outputs=outputs, token=token)
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    is_up = threading.Event()

    async def serve() -> None:
        stop = asyncio.Event()
        started.append((asyncio.get_running_loop(), stop))
        is_up.set()
        await program.run(listener, stop)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="control-plane")
    thread.start()
    is_up.wait(_END_S)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop, stop = started[0]
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(stop.set)
        thread.join(_END_S)


def _terminate(processes: "list[subprocess.Popen[bytes]]") -> None:
    for process in processes:
        process.terminate()


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ask *process* to end, then kill it; return when it is gone."""
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
