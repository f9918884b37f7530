"""What the launcher costs: start to first collective, and death to last process gone.

Both against bare torchrun (the floor), started by hand on both nodes of this machine in the same
run. ``python benchmarks/launcher.py [--rounds 3]``; needs torch.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from figures import Report, options

from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.local_backend import LocalBackend

PROCS, NODES = 2, 2
DEADLINE_S = 120.0
SCRIPT = """
import os, sys, time
from pathlib import Path
import torch, torch.distributed as dist
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
Path(os.environ["BENCH"], f"first-{dist.get_rank()}").write_text(repr(time.monotonic()))
while True:
    dist.all_reduce(torch.ones(1))
    time.sleep(0.02)
"""


def wait_for(question: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not question():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.005)


def bearing(mark: str) -> dict[int, str]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().decode()
    return {pid: line for pid, line in found.items() if line}


def measure(start: Callable[[Path, Path], None], folder: Path) -> tuple[float, float]:
    """Return seconds to the first collective of all ranks, and from a rank's death to silence."""
    began = time.monotonic()
    source = folder / "source"
    source.mkdir()
    (source / "steps.py").write_text(SCRIPT)
    start(source, folder)
    ranks = [folder / f"first-{rank}" for rank in range(NODES * PROCS)]
    wait_for(lambda: all(path.exists() and path.read_text() for path in ranks), "first collective")
    first = max(float(path.read_text()) for path in ranks) - began
    mark = f"BENCH={folder}"
    victim = next(p for p, line in bearing(mark).items() if is_rank(p, line))
    os.kill(victim, signal.SIGKILL)
    died = time.monotonic()
    wait_for(lambda: not bearing(mark), "every process gone")
    return first, time.monotonic() - died


def is_rank(pid: int, line: str) -> bool:
    with contextlib.suppress(OSError):
        return b"LOCAL_RANK=0" in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def bare(source: Path, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for node in range(NODES):
        subprocess.Popen(
            [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(NODES),
             "--nproc-per-node", str(PROCS), "--node-rank", str(node), "--master-addr",
             "127.0.0.1", "--master-port", str(port), "--max-restarts", "0", "steps.py"],
            cwd=source,
            env={**os.environ, "BENCH": str(folder), "GLOO_SOCKET_IFNAME": "lo",
                 "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


@contextlib.contextmanager
def ours(outputs: Path) -> Iterator[Callable[[Path, Path], None]]:
    """Agents that are up, as on a cluster; what is measured begins with the submission."""
    job = DistributedJob(
        name="bench", num_workers=NODES, procs_per_worker=PROCS, entrypoint="steps.py"
    )
    with LocalBackend(job, outputs) as backend:

        def start(source: Path, folder: Path) -> None:
            backend.resubmit(job.model_copy(update={"env": {"BENCH": str(folder)}}), source)

        backend.wait_for_agents(DEADLINE_S)
        yield start


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    bare_runs: list[tuple[float, float]] = []
    our_runs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as top, ours(Path(top, "outputs")) as start:
        for number in range(1 if args.quick else args.rounds):
            for name, begin, runs in (("bare", bare, bare_runs), ("ours", start, our_runs)):
                folder = Path(top, f"{name}-{number}")
                folder.mkdir()
                runs.append(measure(begin, folder))
    report = Report()
    for at, what in enumerate(("submission to first collective", "a rank's death to silence")):
        report.add(
            f"{what}, {NODES} nodes x {PROCS}",
            "s",
            [run[at] for run in our_runs],
            floor=[run[at] for run in bare_runs],
        )
    report.finish(args.json)


if __name__ == "__main__":
    main()
