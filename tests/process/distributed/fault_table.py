"""Every way a rank can go wrong, in every phase, and what the group must say. Run it to see."""

import itertools
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.process.distributed.faults import FAULTS

from reactor_runtime.errors import WorkerCrashed, WorkerError, WorkerTimeout

WORLD_SIZES = (2, 4)
PLACES = ("first", "last")
PHASES = (
    "import",
    "setup",
    "warmup",
    "start_session",
    "generate_chunk",
    "end_session",
    "exit",
    "idle",
)
DEADLINE_S = 2.0  # every bound of the groups in these tests but one:
IMPORT_S = 4.0  # what a rank imports is part of its start, which takes seconds on a busy machine
DEATH_SEEN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One way to go wrong."""

    world_size: int
    place: str
    phase: str
    fault: str

    @property
    def rank(self) -> int:
        return 0 if self.place == "first" else self.world_size - 1

    def __str__(self) -> str:
        return f"{self.phase}-{self.fault}-rank {self.rank} of {self.world_size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must come of it.

    Attributes:
        error: The class of the error; ``None`` when nothing must fail.
        exit_code: What a ``WorkerCrashed`` says.
        survives: Whether the group can go on.
        reported: The phase the error names.
        because: Why the cell cannot be; then nothing else counts.
    """

    error: type[Exception] | None = None
    exit_code: int | None = None
    survives: bool = False
    reported: str = ""
    because: str = ""

    @property
    def deadline_s(self) -> float:
        """The bound that a rank without an answer runs into."""
        return IMPORT_S if self.reported == "import" else DEADLINE_S

    def words(self) -> str:
        if self.because:
            return f"n/a: {self.because}"
        if self.error is None:
            return "succeeds"
        code = "" if self.exit_code is None else f" {self.exit_code}"
        after = ", can be tried again" if self.survives else ""
        within_s = self.deadline_s if self.error is WorkerTimeout else DEATH_SEEN_S
        return f"{self.error.__name__}{code} in {self.reported} ≤ {within_s:g} s{after}"


_RAISES = ("raise", "unpicklable raise", "sys.exit(0)")
_DEATHS = {"os._exit(3)": 3, "SIGKILL": -signal.SIGKILL, "SIGSEGV": -signal.SIGSEGV}


def expected(phase: str, fault: str) -> Expected:
    """Return what must come of *fault* in *phase*, on whatever rank."""
    if fault == "100 MB on stdout":
        return Expected()
    if phase == "exit":  # the rank was told to go: whatever it does, it goes
        return Expected()
    if phase == "idle":
        return _at_idle(fault)
    if fault in _RAISES:
        survives = phase == "start_session"
        return Expected(error=WorkerError, survives=survives, reported=phase)
    if fault in _DEATHS:
        return Expected(error=WorkerCrashed, exit_code=_DEATHS[fault], reported=phase)
    return Expected(error=WorkerTimeout, reported=phase)


def _at_idle(fault: str) -> Expected:
    if fault in _RAISES:
        return Expected(because="between calls only a thread of the author's runs, and it ends")
    if fault == "endless loop":
        return Expected(because="a thread that computes beside the calls is no fault")
    if fault in _DEATHS:
        return Expected(error=WorkerCrashed, exit_code=_DEATHS[fault], reported="idle")
    return Expected(error=WorkerTimeout, reported="generate_chunk")  # at the next call


def all_cells() -> list[Cell]:
    """Return every cell that can be."""
    return [
        Cell(world_size=size, place=place, phase=phase, fault=fault)
        for phase, fault, size, place in itertools.product(PHASES, FAULTS, WORLD_SIZES, PLACES)
        if not expected(phase, fault).because
    ]


def covering_cells() -> list[Cell]:
    """Return few cells that have every pair of two values of every cell."""
    cells = all_cells()
    missing = {pair for cell in cells for pair in _pairs(cell)}
    chosen: list[Cell] = []
    while missing:
        best = max(cells, key=lambda cell: len(missing.intersection(_pairs(cell))))
        chosen.append(best)
        missing.difference_update(_pairs(best))
    return chosen


def _pairs(cell: Cell) -> Iterator[tuple[tuple[str, object], tuple[str, object]]]:
    values = [(n, getattr(cell, n)) for n in ("world_size", "place", "phase", "fault")]
    yield from itertools.combinations(values, 2)


def table() -> Iterable[str]:
    """Return the lines of the table."""
    for phase, fault in itertools.product(PHASES, FAULTS):
        yield f"{phase:15} {fault:18} {expected(phase, fault).words()}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(table()) + "\n")
    sys.stdout.write(f"{len(all_cells())} cells, {len(covering_cells())} cover all pairs\n")
