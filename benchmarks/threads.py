"""Where the CPU of a served frame goes: every thread of the server and of its ranks, per frame.

    python benchmarks/threads.py [--viewers 1,16] [--world 1,2,4] [--stacks FOLDER]

CPU and waits are the kernel's own counts; py-spy tells which thread is which, and with ``--stacks``
samples what they do. Viewers are light ones: they decode nothing.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import crowd
from figures import Report, options
from rig import Runtime, Server, Viewer, enter_private_network, sides, tree

SHOWN_MS = 0.05  # a thread that takes less of a frame is not worth a row
Thread = tuple[int, int]  # process and thread
ROLES = {
    "reactor-video-main_video": "encode (video lane)",
    "reactor-audio": "sound (audio lane)",
    "MainThread": "send (event loop)",
    "convert_0": "convert to I420",
}


def usage(pid: int) -> dict[Thread, tuple[float, int]]:
    """Return CPU seconds and how often each thread has waited, of a process and its children."""
    found = {}
    for process in tree(pid):
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                cpu_ns = int((task / "schedstat").read_text().split()[0])
                status = (task / "status").read_text()
                waits = int(status.split("voluntary_ctxt_switches:")[1].split()[0])
                found[process, int(task.name)] = (cpu_ns / 1e9, waits)
    return found


def py_spy(*words: str) -> str:
    """Return what py-spy prints, nothing where it cannot look into the process."""
    command = [str(Path(sys.executable).with_name("py-spy")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout


def roles(pid: int) -> dict[Thread, str]:
    """Return what each thread does."""
    found = {}
    for process in tree(pid):
        for thread in json.loads(
            py_spy("dump", "--nonblocking", "--pid", str(process), "--json") or "[]"
        ):
            name = thread["thread_name"] or ""
            role = ROLES.get(name, name)
            if name.startswith("model-"):
                role = "call the ranks" if len(tree(pid)) > 1 else "model, and convert to I420"
            if process != pid:
                role = "a rank's process"
            found[process, thread["os_thread_id"]] = role
    return found


@contextlib.contextmanager
def watched(side: Runtime, viewers: int, world_size: int) -> Iterator[tuple[Server, list[Viewer]]]:
    """Serve the bench model to some viewers."""
    ranks = {} if world_size == 1 else {"REACTOR_INIT_PROCESS_GROUP": "false"}
    with (
        Server(side, REACTOR_WORLD_SIZE=str(world_size), **ranks) as server,
        crowd.joined(side, "light", viewers) as joined,
    ):
        time.sleep(3)
        yield server, joined


def measure(report: Report, side: Runtime, case: tuple[int, int], window_s: float) -> None:
    """Add a row for each kind of thread with *case* viewers and ranks."""
    viewers, world_size = case
    with watched(side, viewers, world_size) as (server, joined):
        before, begun = usage(server.process.pid), time.monotonic()
        time.sleep(window_s)
        after, ended = usage(server.process.pid), time.monotonic()
        frames = min(viewer.ask(f"report {begun} {ended}")["fps"] for viewer in joined) * window_s
        names = roles(server.process.pid)
    spent: dict[str, list[float]] = {}
    waited: dict[str, float] = {}
    for thread, (cpu_s, waits) in after.items():
        cpu_before, waits_before = before.get(thread, (0.0, 0))
        role = names.get(thread, "libraries' own threads")
        spent.setdefault(role, []).append((cpu_s - cpu_before) / max(frames, 1))
        waited[role] = waited.get(role, 0.0) + (waits - waits_before) / max(frames, 1)
    where = f"{viewers} viewers" if viewers > 1 else "1 viewer"
    where += f", {world_size} ranks" if world_size > 1 else ", in process"
    for role, seconds in sorted(spent.items(), key=lambda each: -sum(each[1])):
        if 1e3 * sum(seconds) >= SHOWN_MS:
            report.add(f"{where}: {role}", "ms", [sum(seconds)])
            report.add(f"{where}: {role}, waits", "", [waited[role]])
    report.add(f"{where}: all", "ms", [sum(map(sum, spent.values()))])


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--viewers", default="1,16")
    parser.add_argument("--world", default="1,2,4")
    parser.add_argument("--stacks", type=Path, help="also write py-spy's stacks into this folder")
    args = parser.parse_args()
    enter_private_network()
    report, side = Report(), sides(args)[0]
    report.note("CPU milliseconds and waits are per frame; of all ranks together.")
    for world_size in map(int, args.world.split(",")):
        for viewers in map(int, args.viewers.split(",")):
            measure(report, side, (viewers, world_size), 3 if args.quick else 8)
            if args.stacks:
                sample(side, (viewers, world_size), args.stacks)
    report.finish(args.json)


def sample(side: Runtime, case: tuple[int, int], folder: Path) -> None:
    """Write the stacks of *case* viewers and ranks, a line each, as flame graphs take them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "viewers-{}-ranks-{}.txt".format(*case)
    flags = ("--subprocesses", "--threads", "--nonblocking", "--format", "raw", "--rate", "250")
    with watched(side, *case) as (server, _):
        py_spy("record", *flags, "--duration", "8", "-o", str(path), "-p", str(server.process.pid))


if __name__ == "__main__":
    main()
