"""Serving, side by side with the public runtime in one run: latency, CPU, viewers, memory.

    python benchmarks/serve.py [--python P] [--peer-python Q] [--only connect,latency,…] [--quick]

P is an interpreter with this package and the public SDK (default: this one), Q one with the public
runtime and SDK. Without Q the peer's column stays empty. 1280x720 at 24 fps, on loopback signalling
and, as root, a private network.
"""

import argparse
import contextlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rig import (
    ADDRESS,
    HERE,
    STUN_PORT,
    Runtime,
    Server,
    Viewer,
    enter_private_network,
    median,
    percentile,
)

# One interpreter cannot receive for many more.
LIGHT_PER_PROCESS = 8
DECLARED_FPS = 24
HEAD = ["figure", "ours", "peer", "unit", "ratio ours/peer", "goal for the ratio"]


@dataclass(frozen=True)
class Row:
    """One figure: ours, the peer's, and the ratio to reach (at most, or at least)."""

    figure: str
    unit: str
    ours: float
    peer: float | None
    goal: str = ""

    def cells(self) -> list[str]:
        ratio = "" if not self.peer or self.peer != self.peer else f"{self.ours / self.peer:.3f}"
        peer = "" if self.peer is None else f"{self.peer:.3g}"
        return [self.figure, f"{self.ours:.3g}", peer or "-", self.unit, ratio or "-", self.goal]


class Comparison:
    """Runs each measurement on both sides and collects the rows."""

    def __init__(self, ours: Runtime, peer: Runtime | None, light: str, quick: bool) -> None:
        self.sides = [ours] + ([peer] if peer else [])
        self.light, self.quick = light, quick
        self.rows: list[Row] = []

    def add(self, figure: str, unit: str, values: list[float], goal: str = "") -> None:
        peer = values[1] if len(values) > 1 else None
        if not self.rows:
            print("   ".join(HEAD), file=sys.stderr)
        self.rows.append(Row(figure, unit, values[0], peer, goal))
        print("   ".join(self.rows[-1].cells()), file=sys.stderr, flush=True)

    def few(self, count: int) -> int:
        return max(2, count // 5) if self.quick else count

    # --- the measurements --------------------------------------------------------------------

    def start(self) -> None:
        """Process start to a loaded model."""
        times: list[list[float]] = []
        for side in self.sides:
            runs = []
            for _ in range(self.few(7)):
                with Server(side) as server:
                    runs.append(server.ready_s)
            times.append(runs)
        self.add("start to ready", "s", [median(t) for t in times], "<= 1")

    def imports(self) -> None:
        """What `import reactor_runtime` costs."""
        program = (
            "import resource,time;t=time.perf_counter();import reactor_runtime;"
            "print(time.perf_counter()-t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024)"
        )
        seconds, megabytes = [], []
        for side in self.sides:
            runs = [
                subprocess.run(
                    [side.python, "-c", program], capture_output=True, text=True, check=True
                )
                for _ in range(self.few(11))
            ]
            both = [[float(x) for x in run.stdout.split()] for run in runs]
            seconds.append(1e3 * median([b[0] for b in both]))
            megabytes.append(median([b[1] for b in both]))
        self.add("import reactor_runtime", "ms", seconds, "<= 0.85")
        self.add("import reactor_runtime, peak memory", "MB", megabytes, "<= 0.85")

    def connect(self) -> None:
        """connect() and the first decoded frame, one viewer after another."""
        connects, firsts, replies = [], [], []
        for side in self.sides:
            with Server(side) as server:
                answers = []
                for _ in range(self.few(7)):
                    viewer = Viewer(side.python, "sdk")
                    answers.append(viewer.first)
                    viewer.quit()
                    time.sleep(0.5)
                viewer = Viewer(side.python, "sdk")
                replies.append(1e3 * median(viewer.ask(f"rtt {self.few(300)}")["times"]))
                viewer.quit()
                del server
            connects.append(1e3 * median([a["connect_s"] for a in answers]))
            firsts.append(1e3 * median([a["first_frame_s"] for a in answers]))
        self.add("connect()", "ms", connects, "<= 0.4")
        self.add("connect() to first decoded frame", "ms", firsts, "<= 0.35")
        self.add("command to reply, back to back", "ms", replies, "<= 1")

    def latency(self) -> None:
        """Command sent to the first decoded frame that shows it."""
        cases = [
            ("default, model faster than its fps", {}, "<= 0.15"),
            ("default, model as slow as its fps", {"BENCH_STEP_MS": "39"}, "<= 0.3"),
            ("buffer_size 1, faster", {"BENCH_DEPTH": "1"}, "<= 0.25"),
            ("buffer_size 1, as slow", {"BENCH_DEPTH": "1", "BENCH_STEP_MS": "39"}, "<= 0.5"),
        ]
        for name, env, goal in cases:
            values = []
            for side in self.sides:
                with Server(side, **env):
                    viewer = Viewer(side.python, "sdk")
                    time.sleep(3)
                    values.append(1e3 * median(viewer.ask(f"latency {self.few(30)}")["times"]))
                    viewer.quit()
            self.add(f"command to frame: {name}", "ms", values, goal)

    def pace(self) -> None:
        """Frame interval at one viewer over half a minute."""
        gaps = []
        for side in self.sides:
            with Server(side):
                viewer = Viewer(side.python, "sdk")
                time.sleep(3)
                begun = time.monotonic()
                time.sleep(self.few(30))
                gaps.append(viewer.ask(f"report {begun} {time.monotonic()}")["gaps"])
                viewer.quit()
        self.add("frame interval p50", "ms", [1e3 * median(g) for g in gaps])
        self.add("frame interval p99", "ms", [1e3 * percentile(g, 0.99) for g in gaps], "<= 1")

    def gil(self) -> None:
        """A model that holds the GIL for most of a frame's time."""
        rates = []
        for side in self.sides:
            with Server(side, BENCH_GIL_MS="22"):
                viewer = Viewer(side.python, "sdk")
                time.sleep(3)
                begun = time.monotonic()
                time.sleep(self.few(15))
                rates.append(viewer.ask(f"report {begun} {time.monotonic()}")["fps"] / DECLARED_FPS)
                viewer.quit()
        self.add("share of the fps, GIL held 22 ms a step", "", rates, "ours >= 0.98")

    def viewers(self) -> None:
        """Server CPU, memory and what each viewer gets, by their number."""
        for kind, counts in (("sdk", (1, 2, 4, 8, 12)), ("light", (1, 4, 8, 16, 32))):
            for count in counts if not self.quick else counts[:3]:
                found = [self.crowd(side, kind, count) for side in self.sides]
                goal = {("sdk", 1): "<= 0.45", ("light", 4): "<= 0.15"}.get((kind, count), "")
                name = f"{count} {kind} viewer{'s' * (count > 1)}"
                self.add(f"{name}: server CPU", "cores", [f[0] for f in found], goal)
                self.add(f"{name}: lowest fps", "", [f[1] for f in found])
                self.add(f"{name}: server memory", "MB", [f[2] for f in found])

    def crowd(self, side: Runtime, kind: str, count: int) -> tuple[float, float, float]:
        """Return server cores, the lowest viewer's fps, and megabytes with *count* viewers."""
        with Server(side) as server, contextlib.ExitStack() as stack:
            if kind == "light":
                codecs = "VP9" if side.name == "peer" else "VP8"
                flags = ("--codecs", codecs, "--count", str(min(count, LIGHT_PER_PROCESS)))
                python, processes = self.light, -(-count // LIGHT_PER_PROCESS)
            else:
                flags, python, processes = (), side.python, count
            viewers: list[Viewer] = []
            for _ in range(processes):
                session = viewers[0].first.get("session") if viewers else None
                viewers.append(Viewer(python, kind, *flags, session=session))
                stack.callback(viewers[-1].quit)
            time.sleep(4)
            begun, used = time.monotonic(), server.cpu_s()
            time.sleep(10)
            ended, memory = time.monotonic(), server.rss_mb()
            cores = (server.cpu_s() - used) / (ended - begun)
            rates = [viewer.ask(f"report {begun} {ended}")["fps"] for viewer in viewers]
        return cores, min(rates), memory


@contextlib.contextmanager
def stun() -> Iterator[None]:
    """A STUN server for a peer that waits for one."""
    process = subprocess.Popen([sys.executable, str(HERE / "stun.py"), ADDRESS, str(STUN_PORT)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peer-python")
    parser.add_argument("--only", default="start,imports,connect,latency,pace,gil,viewers")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", help="also write the rows to this file")
    args = parser.parse_args()
    enter_private_network()
    ours = Runtime("ours", args.python)
    peer_env = {"STUN_SERVERS": f"stun:{ADDRESS}:{STUN_PORT}"}
    peer = Runtime("peer", args.peer_python, peer_env) if args.peer_python else None
    comparison = Comparison(ours, peer, args.python, args.quick)
    with stun():
        for name in args.only.split(","):
            measure: Callable[[], None] = getattr(comparison, name)
            measure()
    print(f"{platform.machine()}, {platform.python_version()}, {time.strftime('%Y-%m-%d')}\n")
    print(table(comparison.rows))
    if args.json:
        with open(args.json, "w") as out:
            json.dump([row.__dict__ for row in comparison.rows], out, indent=1)


if __name__ == "__main__":
    main()
