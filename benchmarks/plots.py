"""The curves of a benchmark as PNG files."""

from collections.abc import Sequence
from pathlib import Path

from figures import Curve
from matplotlib.figure import Figure


def draw(curves: Sequence[Curve], folder: Path) -> list[Path]:
    """Write a picture of each curve into *folder* and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_draw(curve, folder / f"{curve.name}.png") for curve in curves]


def _draw(curve: Curve, path: Path) -> Path:
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, points in curve.series.items():
        xs, ys = zip(*points, strict=True) if points else ((), ())
        style = "--" if name.startswith("fit") else "o-"
        axes.plot(xs, ys, style, label=name, markersize=4)
    axes.set_title(curve.title, fontsize=11)
    axes.set_xlabel(curve.x)
    axes.set_ylabel(curve.y)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if len(curve.series) > 1:
        axes.legend()
    # Without its metadata the same figures are the same file.
    figure.savefig(path, dpi=100, metadata={"Software": None})
    return path
