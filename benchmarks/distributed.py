"""Ranks, side by side with the public runtime's runner and the machine's own floor, in one run.

    python benchmarks/distributed.py [--python P] [--peer-python Q] [--world 2,4] [--rounds 2]

P is an interpreter with this package (default: this one), Q one with the public runtime; without
Q the peer's columns stay empty. The two take turns, round by round, so that what else the machine
does falls on both; on a machine that does a lot else, run it all under `chrt --rr 1`.

Both sides are told not to join a process group. "Owned" results are, on both, writable copies of
the caller's own, in memory that is used again once they are dropped. The peer copies what goes in
once for each rank, and has neither views nor turns of a served model to compare. A turn is one step
of 20 ms on rank 0, which emits 12 frames of 720p: beside the next one, or one after the other (its
floor), they are converted as for viewers. The floor of a round trip is a ping-pong over socket
pairs, that of a chunk one copy of its bytes.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from figures import Report, median, options
from rig import Runtime, sides

HERE = Path(__file__).parent / "ranks"
sys.path.insert(0, str(HERE))
import floors  # noqa: E402

RUNNER = "reactor_runtime.distributed:DistributedRunner"
SHARED_PARTS = ("start", "empty", "out", "inward", "death")
OWN_PARTS = ("view", "in_place", "turn")
Samples = dict[str, list[float]]  # seconds, by "<side> <figure>"


@dataclass(frozen=True, slots=True)
class Row:
    """How a figure is shown: the samples it is made of, and what it must reach."""

    title: str
    name: str
    floor: str = ""
    goals: tuple[str, ...] = ()


ROWS = (
    Row("round trip", "empty", "floor", ("<= 0.5 peer", "<= 2 floor")),
    Row("chunk out, owned", "out", "copy", ("<= 1 peer", "<= 2.6 floor")),
    Row("chunk out, view", "view", "copy", ("<= 1.5 floor",)),
    Row("chunk in place", "in_place"),
    Row("chunk in", "inward", "copy", ("<= 1 peer",)),
    Row("death seen", "death"),
    Row("start", "start", goals=("<= 1.2 peer",)),
    Row("turn of a model", "turn", "ours turn_apart", ("<= 1 floor",)),
)


def run_side(python: str, world_size: int, part: str) -> Samples:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [python, str(HERE / "side.py"), RUNNER, str(world_size), part]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, cwd=HERE)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def measure(runtimes: list[Runtime], world_size: int, rounds: int) -> Samples:
    found: Samples = {}
    ours = runtimes[0]

    def add(prefix: str, samples: Samples) -> None:
        for name, seconds in samples.items():
            found.setdefault(prefix + name, []).extend(seconds)

    for _ in range(rounds):
        add("", {"floor": floors.round_trips(world_size), "copy": floors.copies()})
        for part in SHARED_PARTS:
            for side in runtimes:
                add(f"{side.name} ", run_side(side.python, world_size, part))
        for part in OWN_PARTS:
            add(f"{ours.name} ", run_side(ours.python, world_size, part))
    return found


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--world", default="2,4")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    if args.quick:
        args.world, args.rounds = "2", 1
    report = Report()
    inward = []
    for size in args.world.split(","):
        found = measure(sides(args), int(size), args.rounds)
        for row in ROWS:
            report.add(
                f"{row.title}, {size} ranks",
                "ms",
                found[f"ours {row.name}"],
                *row.goals,
                peer=found.get(f"peer {row.name}"),
                floor=found.get(row.floor),
            )
        inward.append(median(found["ours inward"]))
    if len(inward) > 1:
        report.note(
            f"A chunk in at {args.world} ranks: {inward[-1] / inward[0]:.2f} x (goal 0.8 to 1.2)."
        )
    report.finish(args.json)


if __name__ == "__main__":
    main()
