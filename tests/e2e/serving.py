"""A real ``reactor serve`` in a process of its own, for tests that look from outside."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.networks import inside
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
WORLDS = {1: (), 2: ("--world-size", "2", "--no-init-process-group")}  # flags by number of ranks
START_DEADLINE_S = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def own_address() -> str | None:
    """The address of an interface other than loopback, without sending anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if address.startswith("127.") else address


@dataclass
class Served:
    """One running server: where it listens, its process, and the file its output goes to."""

    url: str
    process: subprocess.Popen[bytes]
    output: Path
    network: str | None = None  # the namespace it is in, if it is not this one

    def get(self, path: str, timeout_s: float = 5.0) -> tuple[int, str]:
        """Return status and body of a GET."""
        return inside(self.network, lambda: self._get(path, timeout_s))

    def _get(self, path: str, timeout_s: float) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=timeout_s) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def state(self) -> str:
        """Return the session's state."""
        return str(json.loads(self.get("/session")[1])["state"])

    def wait_for_state(self, *states: str, timeout_s: float = 20.0) -> None:
        """Wait until the session is in one of *states*."""
        wait_for(
            lambda: self.state() in states,
            timeout_s,
            lambda: f"{self.state()}, not {states}\n{self.log()}",
        )

    def end_session(self) -> None:
        """End the session, if there is one that does not end already; the next one may begin."""
        if self.state() != "ready":
            asked = urllib.request.Request(f"{self.url}/stop_session", b"{}", method="POST")
            try:
                urllib.request.urlopen(asked, timeout=10).close()
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 409:
                    raise
            self.wait_for_state("ready")

    def log(self) -> str:
        """Return everything it printed."""
        return self.output.read_text(errors="replace")

    def stop(self, sig: int = signal.SIGTERM, timeout_s: float = 15.0) -> int:
        """Signal it and return its exit status."""
        self.process.send_signal(sig)
        return self.process.wait(timeout_s)


@contextlib.contextmanager
def serving(
    target: str | Path,
    *flags: str,
    ready: bool = True,
    cwd: Path = ROOT,
    network: str = "",
    host: str = "127.0.0.1",
    program: Sequence[str] = (sys.executable, "-P", "-m", "reactor_runtime.cli.main"),
    **env: str,
) -> Iterator[Served]:
    """Serve *target* on a free port until the block ends; never leaves the process.

    It listens on *host*, in the network namespace *network* if one is named. *program* is what is
    run as ``reactor``.
    """
    port = free_port()
    command = [*program, "serve", str(target)]
    if network:
        command = ["ip", "netns", "exec", network, *command, "--host", host]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output.log"
        with output.open("wb") as sink:
            process = subprocess.Popen(
                [*command, "--port", str(port), *flags],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
            )
        served = Served(f"http://{host}:{port}", process, output, network or None)
        try:
            if ready:
                _wait_until_ready(served)
            yield served
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(10)


def _wait_until_ready(served: Served) -> None:
    def is_ready() -> bool:
        assert served.process.poll() is None, f"it ended\n{served.log()}"
        with contextlib.suppress(OSError):
            return '"available"' in served.get("/health", 1.0)[1]
        return False

    wait_for(is_ready, START_DEADLINE_S, lambda: f"it did not become ready\n{served.log()}")
