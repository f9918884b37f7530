"""Ranks, side by side with the public runtime's runner and the machine's own floor, in one run.

    python benchmarks/distributed.py [--python P] [--peer-python Q] [--world 2,4] [--rounds 20]

P is an interpreter with this package (default: this one), Q one with the public runtime; without
Q the peer's columns stay empty. Every side stays up, and all are asked in turn for a few calls of
each figure, at every number of ranks, round by round: what else the machine does falls on both
sides of every ratio. On a machine that does a lot else, run it all under ``chrt --rr 1``.

Both sides are told not to join a process group. "Owned" results are, on both, writable copies of
the caller's own, in memory that is used again once they are dropped. The peer copies what goes in
once for each rank, and has neither views nor turns of a served model to compare. A turn on ranks is
one step of 20 ms on rank 0, which emits 12 frames of 720p: beside the next one, or one after the
other (its floor), they are converted as for viewers. A turn in process does nothing; its floor is
the same of the last version that knew no ranks, where git has it. The floor of a round trip is a
ping-pong over socket pairs, that of a chunk one copy of its bytes into warm shared memory.
"""

import contextlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from figures import Report, median, options
from rig import Runtime, sides

HERE = Path(__file__).parent / "ranks"
ROOT = HERE.parent.parent
RUNNER = "reactor_runtime.distributed:DistributedRunner"
RANKS = "src/reactor_runtime/distributed"  # before it, there were none


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: who measures it against whom, and what it must reach.

    Attributes:
        part: What ours and the peer are asked for.
        floor: What the floors are asked for.
        own_floor: What our own answer says is the floor.
        every: Rounds from one question to the next.
        has_peer: Whether the peer can do it.
    """

    title: str
    part: str
    floor: str = ""
    own_floor: str = ""
    goals: tuple[str, ...] = ()
    every: int = 1
    has_peer: bool = True


ROWS = (
    Row("round trip", "round_trip", "round_trip", goals=("<= 0.5 peer", "<= 2 floor")),
    Row("chunk out, owned", "out", "copy", goals=("<= 1 peer", "<= 2.6 floor")),
    Row("chunk out, view", "view", "copy", goals=("<= 1.5 floor",), has_peer=False),
    Row("chunk in place", "in_place", goals=("<= 0.2",), has_peer=False),
    Row("chunk in", "inward", "copy", goals=("<= 1 peer",)),
    Row("death seen", "death", goals=("<= 50",), every=7),
    Row("start", "start", goals=("<= 1.2 peer",), every=2),
    Row("turn of a model", "turn", "", "turn_apart", ("<= 1 floor",), every=7, has_peer=False),
)


class Side:
    """A program that measures what it is asked for; it runs until the block ends."""

    def __init__(self, python: str, *program: str, path: Path = HERE) -> None:
        self.process = subprocess.Popen(
            [python, str(HERE / program[0]), *program[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{HERE}"},
        )

    def ask(self, part: str) -> dict[str, list[float]]:
        """Return seconds, by what they are of."""
        assert self.process.stdin
        assert self.process.stdout
        print(part, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.process.args} did not measure {part}")
        found = json.loads(answer)
        return found if isinstance(found, dict) else {part: found}

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)


@dataclass
class World:
    """All who measure at one number of ranks, and what they found so far."""

    size: int
    ours: Side
    floors: Side
    peer: Side | None
    found: dict[str, list[float]] = field(default_factory=dict)

    def measure(self, row: Row) -> None:
        """Ask everybody for a few samples of one figure, one after the other."""
        self._ask("ours", self.ours, row.part)
        if row.floor:
            self._ask(f"floor of {row.part}:", self.floors, row.floor)
        if row.has_peer and self.peer:
            self._ask("peer", self.peer, row.part)

    def report(self, row: Row, report: Report) -> None:
        """Add what was found of one figure."""
        own_floor, floor = f"ours {row.own_floor}", f"floor of {row.part}: {row.floor}"
        report.add(
            f"{row.title}, {self.size} ranks",
            "ms",
            self.found[f"ours {row.part}"],
            *row.goals,
            peer=self.found.get(f"peer {row.part}"),
            floor=self.found.get(own_floor if row.own_floor else floor),
        )

    def _ask(self, name: str, side: Side, part: str) -> None:
        for of, seconds in side.ask(part).items():
            self.found.setdefault(f"{name} {of}", []).extend(seconds)


@dataclass
class InProcess:
    """Turns without ranks, of this version and of the last one that knew none."""

    ours: Side
    before: Side | None
    found: dict[str, list[float]] = field(default_factory=dict)

    def measure(self) -> None:
        """Ask both for a few turns, one after the other."""
        for name, side in (("ours", self.ours), ("before", self.before)):
            if side:
                self.found.setdefault(name, []).extend(side.ask("turn")["turn"])

    def report(self, report: Report) -> None:
        """Add what was found."""
        found, title = self.found, "turn in process (floor: before ranks)"
        report.add(title, "µs", found["ours"], "<= 1 floor", floor=found.get("before"))


@contextlib.contextmanager
def before_ranks() -> Iterator[Path | None]:
    """The sources of the last version that knew no ranks; ``None`` where git does not have it."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        try:
            first = git("log", "--reverse", "--format=%H", "--", RANKS).split()[0].decode()
            archive = git("archive", f"{first}~1", "src")
        except (OSError, subprocess.CalledProcessError, IndexError):
            yield None
            return
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder) / "src"


def start_all(
    running: contextlib.ExitStack, runtimes: list[Runtime], sizes: list[int]
) -> tuple[InProcess, list[World]]:
    """Start everybody who measures."""
    ours, *others = (runtime.python for runtime in runtimes)

    def side(python: str, *program: str, path: Path = HERE) -> Side:
        return running.enter_context(Side(python, *program, path=path))

    def world(size: str) -> World:
        peer = side(others[0], "side.py", RUNNER, size) if others else None
        own = side(ours, "side.py", RUNNER, size)
        return World(int(size), own, side(ours, "floors.py", size), peer)

    sources = running.enter_context(before_ranks())
    before = side(ours, "in_process.py", path=sources) if sources else None
    in_process = InProcess(side(ours, "in_process.py"), before)
    return in_process, [world(str(size)) for size in sizes]


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--world", default="2,4")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    if args.quick:
        args.world, args.rounds = "2", 1
    with contextlib.ExitStack() as running:
        sizes = [int(size) for size in args.world.split(",")]
        in_process, worlds = start_all(running, sides(args), sizes)
        for number in range(args.rounds):
            in_process.measure()
            for row in ROWS:
                for world in worlds if number % row.every == 0 else ():
                    world.measure(row)
    report = Report()
    in_process.report(report)
    for world in worlds:
        for row in ROWS:
            world.report(row, report)
    if len(worlds) > 1:
        few, many = (median(world.found["ours inward"]) for world in (worlds[0], worlds[-1]))
        report.add("chunk in, most ranks to fewest", "x", [many / few], ">= 0.8", "<= 1.2")
    report.finish(args.json)


if __name__ == "__main__":
    main()
