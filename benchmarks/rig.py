"""What a benchmark needs of the machine: servers, viewers, CPU and memory, a network of its own."""

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
ADDRESS = "10.123.0.1"
STUN_PORT = 3478
PORT = 8090
URL = f"http://127.0.0.1:{PORT}"

NAMESPACE = f"""
ip link set lo up; ip link add bench0 type veth peer name bench1
ip addr add {ADDRESS}/24 dev bench0; ip link set bench0 up; ip link set bench1 up
exec "$@"
"""


def enter_private_network() -> None:
    """Run this program again in a network namespace of its own: nothing leaves the machine."""
    if os.environ.get("BENCH_NETWORK") == "private":
        return
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        print("Not root, or no iproute2: measured on the machine's own network", file=sys.stderr)
        return
    command = ["unshare", "-n", "sh", "-c", NAMESPACE, "bench", sys.executable, *sys.argv]
    os.execvpe("unshare", command, {**os.environ, "BENCH_NETWORK": "private"})


@dataclass(frozen=True)
class Runtime:
    """One side of a comparison: how its server is started."""

    name: str
    python: str
    env: dict[str, str] = field(default_factory=dict)


def sides(options: argparse.Namespace) -> list[Runtime]:
    """Return ours and, where there is one, the peer."""
    ours = Runtime("ours", os.path.abspath(options.python))
    if not options.peer_python:
        return [ours]
    stun = {"STUN_SERVERS": f"stun:{ADDRESS}:{STUN_PORT}"}
    return [ours, Runtime("peer", os.path.abspath(options.peer_python), stun)]


@contextlib.contextmanager
def stun() -> Iterator[None]:
    """A STUN server for a peer that waits for one."""
    process = subprocess.Popen([sys.executable, str(HERE / "stun.py"), ADDRESS, str(STUN_PORT)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def tree(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += tree(int(child))
    except OSError:
        pass
    return found


def cpu_s(pid: int) -> float:
    """Return the CPU seconds a process and its children have used."""
    total = 0
    for process in tree(pid):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process and its children."""
    total = 0
    for process in tree(pid):
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total / 1024


class Server:
    """The bench model, served by one runtime until the block ends."""

    def __init__(self, runtime: Runtime, folder: Path = HERE / "model", **env: str) -> None:
        self.runtime, self.folder, self.env = runtime, folder, env

    def __enter__(self) -> Self:
        self.log = tempfile.NamedTemporaryFile("w+b", suffix=".log")
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [self.runtime.python, "-m", "reactor_runtime.serve"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env={
                **os.environ,
                "HOST": "127.0.0.1",
                "PORT": str(PORT),
                "REACTOR_LOG_LEVEL": "WARNING",
                **self.runtime.env,
                **self.env,
            },
        )
        try:
            self._wait(begun)
        except BaseException:
            self.process.kill()
            raise
        self.ready_s = time.monotonic() - begun
        return self

    def _wait(self, begun: float) -> None:
        while True:
            if self.process.poll() is not None or time.monotonic() - begun > 60:
                raise SystemExit(f"{self.runtime.name} did not come up:\n{self.text()}")
            try:
                with urllib.request.urlopen(URL + "/health", timeout=2) as response:
                    if response.status == 200 and b"available" in response.read():
                        return
            except OSError:
                pass
            time.sleep(0.002)

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def text(self) -> str:
        """Return what it printed."""
        return Path(self.log.name).read_text(errors="replace")

    def cpu_s(self) -> float:
        """Return the CPU seconds used so far."""
        return cpu_s(self.process.pid)

    def rss_mb(self) -> float:
        """Return resident memory."""
        return rss_mb(self.process.pid)


# What a viewer answers that has died, or is silent for too long: it saw nothing.
DEAD: dict[str, Any] = {
    "event": "dead",
    "fps": 0.0,
    "gaps": [],
    "times": [],
    "messages": 0.0,
    "connect_s": float("nan"),
    "first_frame_s": float("nan"),
}


class Viewer:
    """A viewer program in a process of its own, spoken to in JSON lines."""

    def __init__(
        self,
        python: str,
        kind: str,
        *flags: str,
        session: str | None = None,
        url: str = URL,
        niceness: int = 0,
    ) -> None:
        command = [python, str(HERE / "viewers" / f"{kind}_viewer.py"), "--url", url, *flags]
        if session:
            command += ["--session", session]
        if niceness:
            command = ["nice", "-n", str(niceness), *command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.first = self.ask()
        if self.first.get("event") == "dead":  # its row shows nothing: say so
            with contextlib.suppress(subprocess.TimeoutExpired):  # it is silent, and not gone
                status = self.process.wait(5)
                print(f"a {kind} viewer ended at once with status {status}", file=sys.stderr)

    def ask(self, line: str | None = None, timeout_s: float = 120) -> dict[str, Any]:
        """Send a line and return the answer."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            if line:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()
        except BrokenPipeError:
            return dict(DEAD)
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        answer = self.process.stdout.readline() if ready else ""
        return dict(json.loads(answer)) if answer else dict(DEAD)

    def quit(self) -> None:
        """End it."""
        assert self.process.stdin
        try:
            self.process.stdin.write("quit\n")
            self.process.stdin.flush()
            self.process.wait(15)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
