"""RESULTS.md from the files the benchmarks wrote, its plots, and the README's headline table.

python benchmarks/results.py FOLDER INTO [--readme README.md]
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from figures import HEAD, Report, short, table
from machine import Machine

TITLES = {
    "serve": "Serving",
    "reconnect": "A network that fails for five seconds",
    "congestion": "A link that gets bad, and a viewer next to it",
    "broadcasts": "Messages to everybody",
    "distributed": "Ranks",
    "scaling": "Scaling",
    "launcher": "Jobs over nodes",
    "threads": "Where the server's CPU goes",
    "media": "The media part alone",
    "soak": "Two minutes as a session really is",
}
HEADLINE = (
    ("serve", "start to ready"),
    ("serve", "connect() to first decoded frame"),
    ("serve", "command to reply, back to back"),
    ("serve", "command to frame: default, model faster than its fps"),
    ("serve", "1 sdk viewer: server CPU"),
    ("serve", "4 light viewers: server CPU"),
    ("reconnect", "Python SDK, silent: first picture"),
    ("distributed", "round trip, 2 ranks"),
    ("distributed", "chunk out, owned, 2 ranks"),
    ("distributed", "death seen, 2 ranks"),
    ("scaling", "speed-up of 2 ranks, long steps"),
    ("launcher", "submission to first collective, 2 nodes x 2"),
)
HEADLINE_HEAD = ("figure", "unit", "ours", "peer", "floor", "÷ peer", "÷ floor")
BEGIN, END = "<!-- headline figures -->", "<!-- end of headline figures -->"
_READING = """\
**ours** and **peer** (the public runtime, reactor-runtime from PyPI, in its own environment) are
medians; each **p99** belongs to the column before it and is the slowest sample where there are
fewer than 100 (**n** counts ours). The **floor** is what no runtime on this machine can beat: what
the libraries, the kernel or plain arithmetic take for the same, alone. A goal is a bound on our
median, or on its ratio to the peer's or the floor's; one that the floor alone would miss is marked.
"""


def write(found: Path, into: Path, readme: Path | None = None) -> Path:
    """Write RESULTS.md and its plots into a folder and return the file's path.

    Args:
        found: Where the benchmarks' files lie, one ``<name>.json`` each, and ``machine.json``.
        into: Where results go.
        readme: A file whose lines between ``BEGIN`` and ``END`` become the headline table.
    """
    reports = {
        name: Report.read(found / f"{name}.json")
        for name in TITLES
        if (found / f"{name}.json").exists()
    }
    machine = Machine.read(found / "machine.json")
    headline = headline_table(reports)
    lines = ["# Benchmark results", "", "`make bench` wrote this file.", "", *_about(machine)]
    lines += ["", *_READING.splitlines(), "", "## Headline", "", *headline]
    for name, report in reports.items():
        lines += ["", *_section(name, report, into)]
    path = into / "RESULTS.md"
    path.write_text("\n".join(lines) + "\n")
    if readme is not None:
        readme.write_text(_between_marks(readme.read_text(), headline))
    return path


def headline_table(reports: Mapping[str, Report]) -> list[str]:
    """Return the lines of the table that stands in the README."""
    rows = []
    for name, wanted in HEADLINE:
        for figure in reports[name].figures if name in reports else ():
            if figure.name == wanted:
                cells = figure.cells()
                rows.append([*cells[:3], cells[4], *cells[6:9]])
    return table(HEADLINE_HEAD, rows)


def _about(machine: Machine) -> list[str]:
    lines = [
        f"* Machine: {machine.processor}, {machine.cores} cores, {short(machine.memory_gb)} GiB,"
        f" {machine.system}; servers, ranks and viewers share it."
    ]
    for side, versions in machine.versions.items():
        lines.append(
            f"* {side.capitalize()}: " + ", ".join(f"{n} {v}" for n, v in versions.items())
        )
    if machine.no_peer:
        lines.append(f"* Peer: not measured, its columns are empty: {machine.no_peer}")
    return lines


def _section(name: str, report: Report, into: Path) -> list[str]:
    lines = [f"## {TITLES[name]}", "", f"`python benchmarks/{name}.py`, {report.date}", ""]
    if report.figures:
        lines += table(HEAD, (figure.cells() for figure in report.figures))
    for note in report.notes:
        lines += ["", note]
    if report.curves:
        import plots  # draws with matplotlib, which only those who want pictures need

        for curve, path in zip(
            report.curves, plots.draw(report.curves, into / "plots"), strict=True
        ):
            lines += ["", f"![{curve.title}]({path.relative_to(into)})"]
            lines += ["", curve.note] if curve.note else []
    return lines


def _between_marks(text: str, lines: list[str]) -> str:
    wanted = "\n".join([BEGIN, *lines, END])
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: wanted, text, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--readme", type=Path)
    args = parser.parse_args()
    print(write(args.found, args.into, args.readme))


if __name__ == "__main__":
    main()
