"""``python -m reactor_runtime.offline FOLDER --turns N``: films the model of a manifest.

Fit to be a job's entry point, ``module:reactor_runtime.offline``: on every rank it does the same.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # ``python -m`` puts the current folder first, where a file of the author's would hide a module
    # of the standard library from everything imported below.
    sys.path.append(sys.path.pop(0))

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import yaml

from reactor_runtime.errors import OfflineRunError, ReactorError
from reactor_runtime.log import configure
from reactor_runtime.offline.offline_run import OfflineRun, run_offline
from reactor_runtime.offline.script import Command
from reactor_runtime.settings import import_served_class, resolve_settings
from reactor_runtime.world import World


def main(arguments: Sequence[str] | None = None) -> int:
    """Film the model of a folder; return the exit status."""
    chosen = _parser().parse_args(arguments)
    configure()
    try:
        settings = resolve_settings(chosen.folder, environ=os.environ).settings
        commands = [*_from_file(chosen.commands), *map(_from_flag, chosen.command)]
        run = run_offline(
            import_served_class(settings),
            turns=chosen.turns,
            commands=commands,
            out=chosen.out,
            seed=chosen.seed,
            fps=chosen.fps,
            config_path=settings.config_path,
            check_lockstep=settings.check_lockstep,
        )
    except ReactorError as error:
        if World.from_env().world_size > 1:
            raise  # torchrun wants to know
        sys.stderr.write(f"reactor offline: {error}\n")
        return 1
    if World.from_env().is_leader:
        sys.stdout.write(_told(run))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reactor_runtime.offline",
        description="Run a model without clients and write its frames to a lossless .mkv file.",
    )
    parser.add_argument("folder", nargs="?", default=".", help="folder of reactor.yaml")
    parser.add_argument("--turns", type=int, required=True, help="steps to make")
    parser.add_argument("--out", type=Path, default=Path("film.mkv"), help="the file, .mkv")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fps", type=float, default=30.0, help="where the model pins no rate")
    parser.add_argument(
        "--command", nargs=3, action="append", default=[], metavar=("TURN", "NAME", "JSON"),
        help="a command before a turn's step; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--commands", type=Path, metavar="FILE",
        help="YAML or JSON: a list of {turn, name, arguments}",
    )  # fmt: skip
    return parser


def _from_flag(words: Sequence[str]) -> Command:
    turn, name, text = words
    try:
        arguments = json.loads(text)
        return int(turn), name, arguments
    except ValueError as error:
        raise OfflineRunError(None, f"--command {turn} {name} {text}: {error}") from error


def _from_file(path: Path | None) -> list[Command]:
    if path is None:
        return []
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [(int(c["turn"]), str(c["name"]), c.get("arguments") or {}) for c in found or []]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{path}: wanted a list of {{turn, name, arguments}} ({error})"
        raise OfflineRunError(None, reason) from error


def _told(run: OfflineRun) -> str:
    shown = ", ".join(f"{count} frames of {track}" for track, count in run.frames.items())
    files = ", ".join(map(str, run.files)) or "no file"
    return f"{run.turns} turns, {run.seconds:g} s, {shown or 'nothing shown'}: {files}\n"


if __name__ == "__main__":
    sys.exit(main())
