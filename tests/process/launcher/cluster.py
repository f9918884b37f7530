"""A control plane and agents as processes, started by the real commands, seen from outside."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests import waiting
from tests.e2e.strain import strain
from tests.process.cli import command_line, environment

from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.source_bundle import pack_source

SCRIPTS = Path(__file__).parent / "scripts"
TOKEN = "a-token-for-tests-only"
SLACK_S = 120.0  # waited for at most; bounds that are promised are asserted
GONE_S = 5.0  # what is promised from a failure to the last process gone
T = TypeVar("T")


def soon(seconds: float = GONE_S) -> float:
    """Return a bound; a machine that does much else gets as many times longer."""
    return seconds * strain()


def wait_for(question: Callable[[], T | None], what: str, within_s: float = SLACK_S) -> T:
    """Ask until the answer is true, and return it."""
    return waiting.wait_for(question, within_s, lambda: what)


def moment(file: Path) -> float:
    """Return the monotonic time that a script has written to *file*, once it has."""
    said = lambda: file.read_text() if file.exists() else ""  # noqa: E731
    return float(wait_for(said, f"{file.name} is written"))


def bearing(words: str) -> dict[int, str]:
    """Return the command lines of processes whose environment has *words*, by pid."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if words.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if line:  # a zombie has none
                        found[int(entry.name)] = line
    return found


class Cluster:
    """Every process bears a mark, by which the test knows afterwards that none is left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outputs = folder / "outputs"
        self.mark = f"TEST_MARK={uuid.uuid4().hex}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._token_file = folder / "token"
        self._token_file.write_text(TOKEN)
        self._port = 0

    def start_control_plane(self, *flags: str, prefix: Sequence[str] = ()) -> None:
        log = self.folder / "control-plane.log"
        log.unlink(missing_ok=True)
        flags = (*flags, "--state", str(self.folder / "state.sqlite"))
        self._start(
            "control-plane", "--port", str(self._port), "--outputs", str(self.outputs),
            "--token-file", str(self._token_file), *flags, prefix=prefix,
        )  # fmt: skip
        ready = wait_for(lambda: _ready_line(log), "control plane ready")
        self._port = int(ready.rpartition(":")[2].split()[0].strip("'\""))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def client(self) -> ControlClient:
        return ControlClient(self.url, TOKEN)

    def start_agent(
        self, name: str, *flags: str, prefix: Sequence[str] = (), log: str = "", **env: str
    ) -> subprocess.Popen[bytes]:
        if "--control" not in flags:
            flags = (*flags, "--control", self.url)
        return self._start(
            "agent", "--name", name, "--token-file", str(self._token_file),
            "--work-dir", str(self.folder / name), *flags, log=log or name, prefix=prefix, **env,
        )  # fmt: skip

    def _start(
        self, command: str, *flags: str, log: str = "", prefix: Sequence[str] = (), **env: str
    ) -> subprocess.Popen[bytes]:
        name = log or command
        if (before := self.processes.get(name)) is not None:
            before.wait(15)
        key, value = self.mark.split("=")
        with (self.folder / f"{name}.log").open("ab") as output:
            process = subprocess.Popen(
                [*prefix, *command_line(command, *flags)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment(**{key: value}, **env),
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    def submit(self, script: str, *args: str, **more: Any) -> JobRecord:
        meeting = Path(tempfile.mkdtemp(dir=self.folder, prefix="meeting-"))
        env = {"TEST_FOLDER": str(meeting), **more.pop("env", {})}
        job = DistributedJob(
            **{
                "name": "job",
                "num_workers": 2,
                "procs_per_worker": 1,
                "comm_timeout_s": 20,
                "entrypoint": script,
                "args": args,
                "env": env,
                **more,
            }
        )
        archive = meeting / "source.tar.gz"
        pack_source(SCRIPTS, archive)
        client = self.client
        return client.submit(job, client.files.send_source(archive))

    def meeting(self, record: JobRecord) -> Path:
        return Path(record.job.env["TEST_FOLDER"])

    def wait_until(self, record: JobRecord, *states: str, within_s: float = SLACK_S) -> JobRecord:
        def look() -> JobRecord | None:
            now = self.client.job(record.job_id)
            if now.state.is_final and now.state not in states:
                raise AssertionError(f"{now.state}: {now.reason}\n{self.words(now)}")
            return now if now.state in states else None

        return wait_for(look, f"{record.job_id} {' or '.join(states)}", within_s)

    def wait_in(self, record: JobRecord, question: Callable[[], T | None], what: str) -> T:
        """Ask while the job runs, until the answer is true, and return it."""

        def ask() -> T | None:
            answer = question()
            now = self.client.job(record.job_id)
            assert answer or not now.state.is_final, f"{now.state}: {now.reason}; not {what}"
            return answer

        return wait_for(ask, what)

    def finish(self, record: JobRecord, state: str = "succeeded") -> JobRecord:
        return self.wait_until(record, state)

    def words(self, record: JobRecord, node: int | None = None) -> str:
        """Return everything that the job's nodes have printed."""
        record = self.client.job(record.job_id)
        parts = []
        for attempt in record.attempts:
            for task in attempt.tasks:
                if node in (None, task.node_rank):
                    offset = 0
                    while part := self.client.files.log(attempt.attempt_id, task.node_rank, offset):
                        offset += len(part)
                        parts.append(part)
        return b"".join(parts).decode()

    def attempt_id(self, record: JobRecord) -> str:
        attempt = self.client.job(record.job_id).attempt
        assert attempt is not None
        return attempt.attempt_id

    def processes_of(self, record: JobRecord) -> dict[int, str]:
        return bearing(f"REACTOR_ATTEMPT_ID={self.attempt_id(record)}")

    def seconds_until_gone(self, record: JobRecord, since: float, within_s: float = 90) -> float:
        """Return how long after *since* (monotonic) the last process of the job was gone."""
        words = f"REACTOR_ATTEMPT_ID={self.attempt_id(record)}"
        wait_for(lambda: not bearing(words), "every process of the job gone", within_s)
        return time.monotonic() - since

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        self.processes[name].send_signal(number)

    def close(self) -> dict[int, str]:
        """End everything; return what was left of it a moment later."""
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(soon(15))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        deadline = time.monotonic() + soon(10)
        while (left := bearing(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left


def _ready_line(log: Path) -> str:
    text = log.read_text() if log.exists() else ""
    return next((line for line in text.splitlines() if "control_plane_ready" in line), "")


@contextlib.contextmanager
def running(agents: int = 2, procs: int = 2, *flags: str) -> Iterator[Cluster]:
    """Run a cluster of *agents* agents of *procs* procs; nothing of it may be left at the end."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start_control_plane(*flags)
            for number in range(agents):
                cluster.start_agent(f"node{number}", "--procs", str(procs))
            yield cluster
        finally:
            left = cluster.close()
        assert left == {}
