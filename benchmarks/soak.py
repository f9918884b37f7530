"""A long run as a session really is: viewers that come and go, commands, a camera going in.

    python benchmarks/soak.py --minutes 30 [--python P]

One viewer on the public SDK stays, sends 20 commands a second and a 640x360 camera; three
receive-only viewers come and go. Prints a line for each stretch (a minute, or half of a short run)
and fails (status 1) when the rate leaves 2 %, latency or memory grows, a viewer reports an error,
or the server writes a line of its own.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from figures import Curve, Report, median, options, percentile
from rig import HERE, Runtime, Server, Viewer, enter_private_network, sides

FPS = 24
MEMORY_GROWTH_MB = 30.0
TIMES = {
    "gaps": "frame interval",
    "replies": "command to reply",
    "camera_ages": "camera to returned picture",
}


@dataclass(frozen=True)
class Minute:
    """What one stretch of the run looked like from outside."""

    minute: int
    fps: float
    gap_p99_ms: float
    reply_p50_ms: float
    reply_p99_ms: float
    camera_age_p50_ms: float
    rss_mb: float
    cores: float
    joined: int


class Soak:
    """The server, the viewer that stays, and those who come and go."""

    def __init__(self, runtime: Runtime, minutes: float, stretch_s: float) -> None:
        self.runtime, self.python = runtime, runtime.python
        self.minutes, self.stretch_s = minutes, stretch_s
        self.times: dict[str, list[float]] = {name: [] for name in TIMES}
        self.joined = 0

    def run(self) -> tuple[list[Minute], list[str]]:
        """Return the stretches and everything that went wrong."""
        with Server(self.runtime, folder=HERE / "soak_model") as server:
            stays = Viewer(self.python, "soak")
            faults: list[str] = []
            try:
                rows = self._watch(server, stays, faults)
            finally:
                stays.quit()
            printed = [line for line in server.text().splitlines() if _is_complaint(line)]
        return rows, faults + printed

    def _watch(self, server: Server, stays: Viewer, faults: list[str]) -> list[Minute]:
        rows: list[Minute] = []
        session = str(stays.first["session"])
        ends = time.monotonic() + 60 * self.minutes
        time.sleep(5)
        while time.monotonic() < ends - 1:  # what is left is no stretch
            begun, used = time.monotonic(), server.cpu_s()
            self._come_and_go(session, min(begun + self.stretch_s, ends), faults)
            ended = time.monotonic()
            answer = stays.ask(f"report {begun} {ended}")
            faults += [f"viewer: {error}" for error in answer["errors"]]
            for name, seconds in self.times.items():
                seconds += answer[name]
            cores = (server.cpu_s() - used) / (ended - begun)
            rows.append(self._row(len(rows), answer, server.rss_mb(), cores))
            print(json.dumps(asdict(rows[-1])), file=sys.stderr, flush=True)
        return rows

    def _come_and_go(self, session: str, until: float, faults: list[str]) -> None:
        while time.monotonic() < until - 1:
            crowd = [Viewer(self.python, "light", session=session) for _ in range(3)]
            self.joined += 3
            begun = time.monotonic()
            time.sleep(max(0.0, min(12.0, until - begun)))
            for viewer in crowd:
                answer = viewer.ask(f"report {begun} {time.monotonic()}")
                if answer["fps"] < 0.9 * FPS and time.monotonic() - begun > 5:
                    faults.append(f"a passing viewer saw {answer['fps']:.1f} fps")
                viewer.quit()

    def _row(self, number: int, answer: dict[str, Any], rss: float, cores: float) -> Minute:
        return Minute(
            minute=number + 1,
            fps=round(answer["fps"], 2),
            gap_p99_ms=round(1e3 * percentile(answer["gaps"], 0.99), 1),
            reply_p50_ms=round(1e3 * median(answer["replies"]), 2),
            reply_p99_ms=round(1e3 * percentile(answer["replies"], 0.99), 1),
            camera_age_p50_ms=round(1e3 * median(answer["camera_ages"]), 1),
            rss_mb=round(rss, 1),
            cores=round(cores, 3),
            joined=self.joined,
        )


def _is_complaint(line: str) -> bool:
    """Whether a line on the server's output is more than its start and end."""
    return any(
        word in line.lower() for word in ("warn", "error", "traceback", "exception", "never")
    )


def judge(rows: list[Minute]) -> list[str]:
    """Return what was not flat."""
    faults = [f"minute {r.minute}: {r.fps} fps" for r in rows if abs(r.fps / FPS - 1) > 0.02]
    settled = rows[1:]
    if len(settled) >= 4:
        half = len(settled) // 2
        early, late = settled[:half], settled[half:]
        if median([r.rss_mb for r in late]) > median([r.rss_mb for r in early]) + MEMORY_GROWTH_MB:
            faults.append("memory grew")
        for name in ("reply_p50_ms", "camera_age_p50_ms"):
            before, after = (median([getattr(r, name) for r in part]) for part in (early, late))
            if after > 1.5 * before + 5:
                faults.append(f"{name} grew from {before} to {after}")
    return faults + ["the clock went backwards" for a, b in pairwise(rows) if b.minute <= a.minute]


def tell(report: Report, soak: Soak, rows: list[Minute]) -> None:
    """Add the figures of the whole run, and how the stretches differed."""
    report.add("fps at the viewer who stays", "fps", [row.fps for row in rows], ">= 23.5")
    for name, title in TIMES.items():
        report.add(title, "ms", soak.times[name])
    report.add("server memory", "MB", [row.rss_mb for row in rows])
    report.add("server CPU", "cores", [row.cores for row in rows])
    for name, title in (("rss_mb", "server memory, MB"), ("reply_p50_ms", "median reply, ms")):
        points = [(float(row.minute), float(getattr(row, name))) for row in rows]
        report.draw(
            Curve(
                name=f"soak-{name.replace('_', '-')}",
                title=f"{title}, over the run",
                x="stretch",
                y=title,
                series={"ours": points},
            )
        )
    report.note(f"{rows[-1].joined} viewers came and went in {len(rows)} stretches.")


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=30)
    args = parser.parse_args()
    if args.quick:
        args.minutes = 0.5
    enter_private_network()
    stretch_s = min(60.0, 60 * args.minutes / 2)
    soak = Soak(sides(args)[0], args.minutes, stretch_s)
    rows, faults = soak.run()
    faults += judge(rows)
    report = Report()
    tell(report, soak, rows)
    for fault in faults or ["Flat: rate, latency and memory held, nothing complained."]:
        report.note(fault)
    report.finish(args.json)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        sys.exit(f"a program of the run could not be started: {error}")
