"""Figures: what a benchmark measured, as rows on the screen and as a file for RESULTS.md.

A figure is a set of samples of ours, of the peer's where there is one, and of the floor: what no
runtime on this machine can beat. A goal is a bound on our median, or on its ratio to another's.
"""

import argparse
import json
import operator
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

HEAD = ("figure", "unit", "ours", "p99", "peer", "p99", "floor", "÷ peer", "÷ floor", "goal", "n")
_BOUNDS = {"<=": operator.le, ">=": operator.ge}
_SCALES = {"s": 1.0, "ms": 1e3, "µs": 1e6}


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle and the slow end of some samples."""

    median: float
    p99: float
    count: int

    @classmethod
    def of(cls, samples: Sequence[float] | None, scale: float = 1.0) -> Self | None:
        """Return it, or ``None`` of nothing."""
        if not samples:
            return None
        return cls(scale * median(samples), scale * percentile(samples, 0.99), len(samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row: a goal reads ``<= 0.4 peer``, ``<= 2 floor`` or ``>= 23.5``."""

    name: str
    unit: str
    ours: Spread
    peer: Spread | None = None
    floor: Spread | None = None
    goals: tuple[str, ...] = ()

    def ratio(self, to: str) -> float | None:
        """Return our median over that of the peer or the floor, if there is one."""
        other = getattr(self, to)
        return self.ours.median / other.median if other and other.median else None

    def meets(self, goal: str) -> bool | None:
        """Return whether a goal is met, ``None`` where its other side was not measured."""
        bound, number, *to = goal.split()
        value = self.ratio(to[0]) if to else self.ours.median
        return None if value is None else bool(_BOUNDS[bound](value, float(number)))

    def cells(self) -> list[str]:
        """Return the row as texts, one for each of ``HEAD``."""
        return [
            self.name,
            self.unit,
            *_texts(self.ours),
            *_texts(self.peer),
            _texts(self.floor)[0],
            *(short(self.ratio(to)) for to in ("peer", "floor")),
            "; ".join(f"{goal}: {self._verdict(goal)}" for goal in self.goals),
            str(self.ours.count),
        ]

    def _verdict(self, goal: str) -> str:
        is_met = self.meets(goal)
        if is_met is None:
            return "not measured"
        if is_met or self.floor is None or not goal.endswith(" peer"):
            return "met" if is_met else "missed"
        alone = replace(self, ours=self.floor)
        if alone.meets(goal):
            return "missed"
        return f"missed, as the floor alone does at {short(alone.ratio('peer'))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points to be drawn: (x, y) of each series; one whose name begins with "fit" is a line."""

    name: str
    title: str
    x: str
    y: str
    series: dict[str, list[tuple[float, float]]]
    note: str = ""


@dataclass
class Report:
    """Collects what one benchmark measured, and shows each row as soon as it is there."""

    figures: list[Figure] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    date: str = field(default_factory=lambda: time.strftime("%Y-%m-%d"))

    def add(
        self,
        name: str,
        unit: str,
        ours: Sequence[float],
        *goals: str,
        peer: Sequence[float] | None = None,
        floor: Sequence[float] | None = None,
    ) -> None:
        """Add a figure; samples of a time are in seconds, whatever the unit shown."""
        scale = _SCALES.get(unit, 1.0)
        spread = Spread.of(ours, scale)
        if spread is None:
            self.note(f"{name}: nothing was measured")
            return
        figure = Figure(
            name=name,
            unit=unit,
            ours=spread,
            peer=Spread.of(peer, scale),
            floor=Spread.of(floor, scale),
            goals=goals,
        )
        if not self.figures:
            _say(HEAD)
        self.figures.append(figure)
        _say(figure.cells())

    def draw(self, curve: Curve) -> None:
        """Add a curve."""
        self.curves.append(curve)
        if curve.note:
            _say([curve.title, curve.note])

    def note(self, text: str) -> None:
        """Add a line that belongs under the table."""
        self.notes.append(text)
        _say([text])

    def finish(self, path: Path | None) -> None:
        """Print the table, and write everything to *path* if there is one."""
        print("\n".join(table(HEAD, (figure.cells() for figure in self.figures))))
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write everything to a file."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what ``write`` wrote."""
        found = json.loads(path.read_text())
        return cls(
            figures=[_figure(each) for each in found["figures"]],
            curves=[Curve(**each) for each in found["curves"]],
            notes=found["notes"],
            date=found["date"],
        )


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser with what every benchmark takes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="fewer samples: does it run at all?")
    parser.add_argument("--python", default=sys.executable, help="with this package and the SDK")
    parser.add_argument("--peer-python", help="with the public runtime; without it no peer")
    return parser


def median(values: Sequence[float]) -> float:
    """Return the median, or NaN of nothing."""
    return statistics.median(values) if values else float("nan")


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile by rank, or NaN of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def short(value: float | None) -> str:
    """Return a number in three digits or so; nothing for ``None``, a dash for NaN."""
    if value is None:
        return ""
    if value != value:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]


def _texts(spread: Spread | None) -> tuple[str, str]:
    if spread is None:
        return "", ""
    return short(spread.median), short(spread.p99) if spread.count > 1 else ""


def _figure(found: dict[str, Any]) -> Figure:
    spreads = {
        name: Spread(**found[name]) if found[name] else None for name in ("ours", "peer", "floor")
    }
    return Figure(**{**found, **spreads, "goals": tuple(found["goals"])})


def _say(cells: Sequence[str]) -> None:
    print("   ".join(cells), file=sys.stderr, flush=True)
