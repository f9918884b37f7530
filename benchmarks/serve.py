"""Serving, side by side with the public runtime in one run: latency, CPU, viewers, memory.

    python benchmarks/serve.py [--python P] [--peer-python Q] [--only connect,latency,…] [--quick]

P is an interpreter with this package and the public SDK (default: this one), Q one with the public
runtime and SDK. Without Q the peer's column stays empty. 1280x720 at 24 fps, on loopback signalling
and, as root, a private network. The floor is what the libraries underneath take, alone.
"""

import subprocess
import time
from collections.abc import Callable
from functools import cached_property

import crowd
import serving_floors
from figures import Curve, Report, options
from rig import Runtime, Server, Viewer, enter_private_network, sides, stun

DECLARED_FPS = 24
CROWDS = {"sdk": (1, 2, 4, 8), "light": (1, 4, 16, 32)}
PARTS = ("start", "imports", "connect", "latency", "pace", "gil", "viewers")


class Comparison:
    """Runs each measurement on both sides and collects the rows."""

    def __init__(self, runtimes: list[Runtime], report: Report, quick: bool) -> None:
        self.sides, self.report, self.quick = runtimes, report, quick

    @cached_property
    def picture(self) -> serving_floors.PictureFloor:
        """One picture's way, without a server."""
        return serving_floors.picture(self.few(150))

    def add(
        self,
        name: str,
        unit: str,
        samples: list[list[float]],
        *goals: str,
        floor: list[float] | None = None,
    ) -> None:
        """Add what was measured, in the order of the sides."""
        peer = samples[1] if len(samples) > 1 else None
        self.report.add(name, unit, samples[0], *goals, peer=peer, floor=floor)

    def few(self, count: int) -> int:
        return max(2, count // 5) if self.quick else count

    # --- the measurements --------------------------------------------------------------------

    def start(self) -> None:
        """Process start to a loaded model."""
        times: list[list[float]] = [[] for _ in self.sides]
        for _ in range(self.few(7)):
            for side, runs in zip(self.sides, times, strict=True):
                with Server(side) as server:
                    runs.append(server.ready_s)
        floor = serving_floors.interpreter_s(serving_floors.LIBRARIES, self.few(7))
        self.add("start to ready", "s", times, "<= 1 peer", floor=floor)

    def imports(self) -> None:
        """What `import reactor_runtime` costs."""
        program = (
            "import resource,time;t=time.perf_counter();import {};"
            "print(time.perf_counter()-t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024)"
        )

        def run(python: str, name: str) -> list[tuple[float, ...]]:
            command = [python, "-c", program.format(name)]
            outputs = [
                subprocess.run(command, capture_output=True, text=True, check=True).stdout
                for _ in range(self.few(11))
            ]
            return [tuple(map(float, output.split())) for output in outputs]

        runs = [run(side.python, "reactor_runtime") for side in self.sides]
        floor = run(self.sides[0].python, "numpy")
        for at, name, unit in (
            (0, "import reactor_runtime (floor: numpy)", "ms"),
            (1, "import reactor_runtime, peak memory (floor: numpy)", "MB"),
        ):
            values = [[each[at] for each in side] for side in runs]
            self.add(name, unit, values, "<= 0.85 peer", floor=[each[at] for each in floor])

    def connect(self) -> None:
        """connect() and the first decoded frame, one viewer after another."""
        connects, firsts, replies = [], [], []
        for side in self.sides:
            with Server(side):
                answers = []
                for _ in range(self.few(7)):
                    viewer = Viewer(side.python, "sdk")
                    answers.append(viewer.first)
                    viewer.quit()
                    time.sleep(0.5)
                viewer = Viewer(side.python, "sdk")
                replies.append(viewer.ask(f"rtt {self.few(300)}")["times"])
                viewer.quit()
            connects.append([answer["connect_s"] for answer in answers])
            firsts.append([answer["first_frame_s"] for answer in answers])
        opened, echoed = serving_floors.messages(self.few(300))
        self.add("connect()", "ms", connects, "<= 0.4 peer", floor=opened)
        self.add("connect() to first decoded frame", "ms", firsts, "<= 0.35 peer", floor=opened)
        self.add("command to reply, back to back", "ms", replies, "<= 1 peer", floor=echoed)

    def latency(self) -> None:
        """Command sent to the first decoded frame that shows it."""
        cases = [
            ("default, model faster than its fps", {}, "<= 0.15 peer"),
            ("default, model as slow as its fps", {"BENCH_STEP_MS": "39"}, "<= 0.3 peer"),
            ("buffer_size 1, faster", {"BENCH_DEPTH": "1"}, "<= 0.25 peer"),
            ("buffer_size 1, as slow", {"BENCH_DEPTH": "1", "BENCH_STEP_MS": "39"}, "<= 0.5 peer"),
        ]
        for name, env, goal in cases:
            values = []
            for side in self.sides:
                with Server(side, **env):
                    viewer = Viewer(side.python, "sdk")
                    time.sleep(3)
                    values.append(viewer.ask(f"latency {self.few(30)}")["times"])
                    viewer.quit()
            step_s = float(env.get("BENCH_STEP_MS", 0)) / 1e3
            floor = [step_s + each for each in self.picture.command_to_frame]
            self.add(f"command to frame: {name}", "ms", values, goal, floor=floor)

    def pace(self) -> None:
        """Frame interval at one viewer over half a minute."""
        gaps = [self._watched(side, 30)["gaps"] for side in self.sides]
        self.add("frame interval", "ms", gaps, floor=[1 / DECLARED_FPS])

    def gil(self) -> None:
        """A model that holds the GIL for most of a frame's time."""
        shares = [
            [self._watched(side, 15, BENCH_GIL_MS="22")["fps"] / DECLARED_FPS]
            for side in self.sides
        ]
        self.add("share of the fps, GIL held 22 ms a step", "", shares, ">= 0.98", floor=[1.0])

    def viewers(self) -> None:
        """Server CPU, memory and what each viewer gets, by their number."""
        goals = {("sdk", 1): "<= 0.45 peer", ("light", 4): "<= 0.15 peer"}
        for kind, counts in CROWDS.items():
            found = []
            for count in counts if not self.quick else counts[:2]:
                window_s = 3 if self.quick else 8
                found.append([crowd.watch(side, kind, count, window_s) for side in self.sides])
                name = f"{count} {kind} viewer{'s' * (count > 1)}"
                goal = goals.get((kind, count))
                self.add(
                    f"{name}: server CPU",
                    "cores",
                    [[each.cores] for each in found[-1]],
                    *((goal,) if goal else ()),
                    floor=[self.picture.cores],
                )
                rates = [[each.lowest_fps] for each in found[-1]]
                self.add(f"{name}: lowest fps", "fps", rates, floor=[DECLARED_FPS])
                self.add(f"{name}: memory", "MB", [[each.memory_mb] for each in found[-1]])
            self._draw(kind, found)

    def _draw(self, kind: str, found: list[list[crowd.Crowd]]) -> None:
        counts = CROWDS[kind]
        for what, title in (("cores", "server CPU, cores"), ("lowest_fps", "lowest fps")):
            lines = {
                side.name: [
                    (float(count), float(getattr(crowds[at], what)))
                    for count, crowds in zip(counts, found, strict=False)
                ]
                for at, side in enumerate(self.sides)
            }
            self.report.draw(
                Curve(
                    name=f"serve-{kind}-{what.replace('_', '-')}",
                    title=f"{title} by {kind} viewers",
                    x=f"{kind} viewers",
                    y=title,
                    series=lines,
                )
            )

    def _watched(self, side: Runtime, seconds: int, **env: str) -> dict[str, list[float]]:
        with Server(side, **env):
            viewer = Viewer(side.python, "sdk")
            time.sleep(3)
            begun = time.monotonic()
            time.sleep(self.few(seconds))
            report = viewer.ask(f"report {begun} {time.monotonic()}")
            viewer.quit()
        return report


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--only", default=",".join(PARTS))
    args = parser.parse_args()
    enter_private_network()
    report = Report()
    comparison = Comparison(sides(args), report, args.quick)
    with stun():
        for name in args.only.split(","):
            measure: Callable[[], None] = getattr(comparison, name)
            measure()
    report.finish(args.json)


if __name__ == "__main__":
    main()
