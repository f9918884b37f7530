"""Every benchmark, one after the other, then RESULTS.md and the README's headline table.

    python benchmarks/run.py [--only serve,soak] [--quick] [--no-peer]

Each writes its figures to build/bench; what ``--only`` leaves out keeps those of an earlier run.
With ``--quick`` (does everything run at all?) the results stay in build/bench-quick.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import results
from environments import EnvironmentMissingError, install_ours, install_peer
from figures import Report
from machine import this_machine

HERE = Path(__file__).parent
ROOT = HERE.parent
FLAGS = {"soak": ("--minutes", "2")}
WITH_TORCH = ("launcher",)  # on this program's own Python, which has it
DEADLINE_S = 1800


def run(python: str, name: str, folder: Path, *flags: str) -> None:
    """Run one benchmark; one that fails leaves a report that says so."""
    path = folder / f"{name}.json"
    path.unlink(missing_ok=True)
    print(f"\n== {name}", file=sys.stderr, flush=True)
    command = [python, str(HERE / f"{name}.py"), "--json", str(path), *flags]
    began = time.monotonic()
    try:
        status = subprocess.run(command, check=False, timeout=DEADLINE_S).returncode
    except subprocess.TimeoutExpired:
        status = None
    report = Report.read(path) if path.exists() else Report()
    if not path.exists():
        ended = f"ended with status {status}" if status is not None else "took too long"
        report.note(f"No figures: it {ended}.")
    report.note(f"Took {time.monotonic() - began:.0f} s.")
    report.write(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(results.TITLES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    args = parser.parse_args()
    folder = ROOT / "build" / ("bench-quick" if args.quick else "bench")
    folder.mkdir(parents=True, exist_ok=True)
    pythons, no_peer = {"ours": sys.executable}, "it was not asked for"
    if not args.no_peer:
        try:
            peer, ours = str(install_peer()), str(install_ours())
            pythons = {"ours": ours, "ours, jobs over nodes": sys.executable, "peer": peer}
            no_peer = ""
        except EnvironmentMissingError as error:
            no_peer = str(error)
    this_machine(pythons, no_peer).write(folder / "machine.json")
    flags = ["--quick"] if args.quick else []
    flags += ["--peer-python", pythons["peer"]] if "peer" in pythons else []
    for name in args.only.split(","):
        python = sys.executable if name in WITH_TORCH else pythons["ours"]
        run(python, name, folder, *flags, *FLAGS.get(name, ()))
    into, readme = (folder, None) if args.quick else (HERE, ROOT / "README.md")
    print(results.write(folder, into, readme))


if __name__ == "__main__":
    main()
