"""Ranks, side by side with the public runtime's runner and the machine's own floor, in one run.

    python benchmarks/distributed.py [--python P] [--peer-python Q] [--world 2,4] [--rounds 2]

P is an interpreter with this package (default: this one), Q one with the public runtime; without
Q the peer's columns stay empty. The two take turns, round by round, so that what else the machine
does falls on both; on a machine that does a lot else, run it all under `chrt --rr 1`. Times in
milliseconds.

Both sides are told not to join a process group. "Owned" results are, on both, writable copies of
the caller's own, in memory that is used again once they are dropped. The peer copies what goes in
once for each rank, and has neither views nor turns of a served model to compare. A turn is one step
of 20 ms on rank 0, which emits 12 frames of 720p: beside the next one, or one after the other, they
are converted as for viewers.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent / "ranks"
sys.path.insert(0, str(HERE))
import floors  # noqa: E402

RUNNER = "reactor_runtime.distributed:DistributedRunner"
SHARED_PARTS = ("start", "empty", "out", "inward", "death")
OWN_PARTS = ("view", "in_place", "turn")


@dataclass
class Samples:
    """Seconds, of all rounds."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        return statistics.median(self.seconds) * 1e3 if self.seconds else float("nan")

    @property
    def p99_ms(self) -> float:
        ordered = sorted(self.seconds)
        if not ordered:
            return float("nan")
        return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] * 1e3


@dataclass
class Measured:
    """Every figure of one world size, by name."""

    world_size: int
    figures: dict[str, Samples] = field(default_factory=dict)

    def add(self, name: str, seconds: list[float]) -> None:
        self.figures.setdefault(name, Samples()).seconds += seconds

    def median(self, name: str) -> float:
        return self.figures.get(name, Samples()).median_ms


def run_side(python: str, world_size: int, parts: tuple[str, ...]) -> dict[str, list[float]]:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [python, str(HERE / "side.py"), RUNNER, str(world_size), *parts]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, cwd=HERE)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def measure(options: argparse.Namespace, world_size: int) -> Measured:
    measured = Measured(world_size)
    sides = [("ours", options.python), ("peer", options.peer_python)]
    for _ in range(options.rounds):
        for part in SHARED_PARTS:
            if part == "empty":
                measured.add("floor", floors.round_trips(world_size))
            if part == "out":
                measured.add("copy", floors.copies())
            for side, python in sides:
                add_side(measured, side, python, part)
        for part in OWN_PARTS:
            add_side(measured, "ours", options.python, part)
    return measured


def add_side(measured: Measured, side: str, python: str, part: str) -> None:
    if python:
        for name, seconds in run_side(python, measured.world_size, (part,)).items():
            measured.add(f"{side} {name}", seconds)


def ratio(measured: Measured, name: str, other: str, goal: str) -> str:
    share = measured.median(name) / measured.median(other)
    return "" if share != share else f"{share:.2f} x {other} (goal {goal})"


def report(measured: Measured) -> None:
    print(f"\nworld size {measured.world_size}: median / p99 in ms")
    rows = [
        ("round trip", "empty", [("peer empty", "<= 0.5"), ("floor", "<= 2")]),
        ("chunk out, owned", "out", [("peer out", "<= 1"), ("copy", "<= 2.6")]),
        ("chunk out, view", "view", [("copy", "<= 1.5")]),
        ("chunk in place", "in_place", []),
        ("chunk in", "inward", [("peer inward", "<= 1")]),
        ("death seen", "death", []),
        ("start", "start", [("peer start", "<= 1.2")]),
        ("turn of a model", "turn", [("ours turn_apart", "< 1")]),
    ]
    for title, name, goals in rows:
        ours, peer = (
            measured.figures.get(f"{side} {name}", Samples()) for side in ("ours", "peer")
        )
        ratios = [ratio(measured, f"ours {name}", other, goal) for other, goal in goals]
        shown = "; ".join(filter(None, ratios))
        print(
            f"{title:18} ours {ours.median_ms:8.3f} / {ours.p99_ms:8.3f}"
            f"   peer {peer.median_ms:8.3f} / {peer.p99_ms:8.3f}   {shown}"
        )
    for name in ("floor", "copy"):
        found = measured.figures[name]
        print(f"{name:18}      {found.median_ms:8.3f} / {found.p99_ms:8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--world", default="2,4")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    results = [measure(options, int(size)) for size in options.world.split(",")]
    for measured in results:
        report(measured)
    inward = [measured.median("ours inward") for measured in results]
    if len(inward) > 1:
        share = inward[-1] / inward[0]
        print(f"\nchunk in at {options.world}: {share:.2f} x (goal 0.8 to 1.2)")


if __name__ == "__main__":
    main()
