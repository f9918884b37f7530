"""How far it goes: ranks on cores, turns by ranks, viewers until the rate drops, sessions an hour.

    python benchmarks/scaling.py [--only ranks,turns,viewers,sessions] [--quick]

The model of ``ranks`` computes a small picture by rows, in one thread without the GIL, and shares
nothing; its floor is the same work in as many bare processes, which is what the cores can do. The
floor of a turn is a ping-pong with as many processes over socket pairs. Viewers are light ones:
they decode nothing.
"""

import json
import os
import subprocess
import sys
import time

import crowd
import numpy as np
from figures import Curve, Report, median, options
from rig import HERE, Runtime, Server, Viewer, enter_private_network, sides

sys.path.insert(0, str(HERE / "ranks"))
import floors

PARTS = ("ranks", "turns", "viewers", "sessions")
WORLDS = (1, 2, 4, 8)
VIEWERS = (1, 2, 4, 8, 16, 32, 48, 64)
FPS, HOLDS = 24, 0.95
STEPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "long": ("480", (">= 1.85",)),
    "short": ("60", ()),
}  # of some 250 and 30 ms on one rank
MODEL = HERE / "scaling_model"


class Scaling:
    """Runs each measurement and collects the figures and curves."""

    def __init__(self, runtime: Runtime, report: Report, quick: bool) -> None:
        self.runtime, self.report, self.quick = runtime, report, quick

    def ranks(self) -> None:
        """A compute-bound model on one rank and on two, with steps of two lengths."""
        speedups: dict[str, list[tuple[float, float]]] = {"served": [], "bare processes": []}
        for step, (rounds, goals) in STEPS.items():
            served, bare = self._rates(rounds)
            for world_size, values in served.items():
                name = f"{step} steps, {world_size} rank{'s' * (world_size > 1)}"
                self.report.add(name, "fps", values, floor=bare[world_size])
            ours, floor = (
                [two / one for one, two in zip(side[1], side[2], strict=True)]
                for side in (served, bare)
            )
            self.report.add(f"speed-up of 2 ranks, {step} steps", "x", ours, *goals, floor=floor)
            step_ms = 1e3 / median(bare[1])
            for name, values in (("served", ours), ("bare processes", floor)):
                speedups[name].append((step_ms, median(values)))
        axes = ("a step on 1 rank, ms", "speed-up of 2 ranks")
        self._draw("scaling-ranks", "a compute-bound model", axes, speedups)

    def turns(self) -> None:
        """What a turn of a model that does nothing takes, by ranks."""
        count, points, lowest = 200 if self.quick else 1500, [], []
        for world_size in WORLDS:
            command = [self.runtime.python, str(HERE / "ranks" / "turns.py")]
            done = subprocess.run(
                [*command, str(world_size), str(count)],
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            )
            seconds = json.loads(done.stdout.splitlines()[-1])
            floor = floors.round_trips(world_size, count) if world_size > 1 else None
            name = f"a turn, {world_size} rank{'s' * (world_size > 1)}"
            self.report.add(name, "ms", seconds, floor=floor)
            points.append((float(world_size), 1e3 * median(seconds)))
            lowest += [(float(world_size), 1e3 * median(floor))] if floor else []
        lines = {"ours": points, "ping-pong": lowest}
        self._draw("scaling-turns", "a turn that does nothing", ("ranks", "ms"), lines)

    def viewers(self) -> None:
        """Light viewers until somebody's rate drops, and the server's CPU as a line."""
        cores, rates, window_s = [], [], 3.0 if self.quick else 6.0
        for count in VIEWERS[:4] if self.quick else VIEWERS:
            seen = crowd.watch(self.runtime, "light", count, window_s)
            print(count, seen, file=sys.stderr, flush=True)
            rates.append((float(count), seen.lowest_fps))
            cores.append((float(count), seen.cores))
            if seen.lowest_fps < HOLDS * FPS:
                break
        held = [point for point, (_, fps) in zip(cores, rates, strict=True) if fps >= HOLDS * FPS]
        most = max((count for count, _ in held), default=0.0)
        self.report.add("most viewers at the full rate", "", [most])
        self._draw("scaling-viewers-fps", "lowest fps", ("light viewers", "fps"), {"ours": rates})
        if len(held) < 2:
            self.report.note("Too few counts held the rate for a line through their CPU.")
            return
        slope, rest = np.polyfit(*zip(*held, strict=True), 1)
        self.report.add("server CPU of one more viewer", "cores", [float(slope)])
        self._draw(
            "scaling-viewers-cpu",
            "server CPU",
            ("light viewers", "cores"),
            {"ours": cores, "fit": [(x, float(rest + slope * x)) for x, _ in held]},
            f"CPU = {rest:.3f} + {slope:.4f} x viewers, in cores, through {len(held)} counts.",
        )

    def sessions(self) -> None:
        """Sessions started, seen and stopped one after the other."""
        whole, first, memory = [], [], []
        with Server(self.runtime) as server:
            viewer = Viewer(sys.executable, "churn")
            until = time.monotonic() + (5 if self.quick else 45)
            while time.monotonic() < until:
                answer = viewer.ask("session")
                if not answer.get("seen"):
                    self.report.note(f"Session {len(whole) + 1} showed nothing; the churn ended.")
                    break
                whole.append(answer["whole_s"])
                first.append(answer["first_s"])
                memory.append(server.rss_mb())
            viewer.quit()
        self.report.add("start of a session to its first picture", "ms", first)
        self.report.add("a session, start to stop", "ms", whole)
        if not whole:
            return
        self.report.add("sessions an hour, one after the other", "", [3600 / median(whole)])
        self.report.add("memory a session leaves", "MB", [_slope(memory)])
        points = [(float(number), mb) for number, mb in enumerate(memory, 1)]
        axes = ("sessions", "server memory, MB")
        self._draw("scaling-sessions", "memory over sessions", axes, {"ours": points})
        times = [(float(number), 1e3 * seconds) for number, seconds in enumerate(whole, 1)]
        axes = ("sessions", "a session, ms")
        self._draw("scaling-churn", "sessions one after the other", axes, {"ours": times})

    def _rates(self, rounds: str) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
        """Return fps by ranks: served, and in bare processes, one after the other."""
        served: dict[int, list[float]] = {1: [], 2: []}
        bare: dict[int, list[float]] = {1: [], 2: []}
        window_s = 3.0 if self.quick else 8.0
        for _ in range(1 if self.quick else 2):
            for world_size in served:
                served[world_size].append(self._served_fps(world_size, rounds, window_s))
                bare[world_size].append(self._bare_fps(world_size, rounds, window_s / 2))
        return served, bare

    def _served_fps(self, world_size: int, rounds: str, window_s: float) -> float:
        env = {"REACTOR_WORLD_SIZE": str(world_size), "BENCH_ROUNDS": rounds}
        with Server(self.runtime, folder=MODEL, **env):
            viewer = Viewer(sys.executable, "light")
            time.sleep(3)
            begun = time.monotonic()
            time.sleep(window_s)
            fps = viewer.ask(f"report {begun} {time.monotonic()}")["fps"]
            viewer.quit()
        return float(fps)

    def _bare_fps(self, world_size: int, rounds: str, window_s: float) -> float:
        program = [self.runtime.python, str(MODEL / "painting.py")]
        processes = [
            subprocess.Popen(
                [*program, str(rank), str(world_size), str(window_s)],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "BENCH_ROUNDS": rounds},
            )
            for rank in range(world_size)
        ]
        return min(float(process.communicate(timeout=60)[0]) for process in processes)

    def _draw(
        self,
        name: str,
        title: str,
        axes: tuple[str, str],
        series: dict[str, list[tuple[float, float]]],
        note: str = "",
    ) -> None:
        x, y = axes
        self.report.draw(Curve(name=name, title=title, x=x, y=y, series=series, note=note))


def _slope(values: list[float]) -> float:
    """Return how much values grow a step, the first half being left out as warming up."""
    settled = values[len(values) // 2 :]
    return float(np.polyfit(range(len(settled)), settled, 1)[0]) if len(settled) > 1 else 0.0


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--only", default=",".join(PARTS))
    args = parser.parse_args()
    enter_private_network()
    report = Report()
    scaling = Scaling(sides(args)[0], report, args.quick)
    for name in args.only.split(","):
        getattr(scaling, name)()
    report.finish(args.json)


if __name__ == "__main__":
    main()
