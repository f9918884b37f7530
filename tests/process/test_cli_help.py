"""Help is fast and loads nothing that help does not need."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.process.cli import command_line, environment, reactor, write_model

from reactor_runtime import __version__
from reactor_runtime.setting_table import SETTINGS

HEAVY = (
    "aiortc", "aioice", "asyncio", "av", "fastapi", "starlette", "uvicorn", "torch", "numpy",
    "structlog", "yaml", "google.protobuf", "prometheus_client",
    "reactor_runtime.manifest", "reactor_runtime.settings", "reactor_runtime.serve",
)  # fmt: skip
BUDGET_S = 0.5  # of processor time, which a busy machine does not change
EMPTY = "import typer\napp = typer.Typer()\napp.command()(lambda: None)\napp(['--help'])\n"


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["--version"]])
def test_help_answers_within_half_a_second(arguments: list[str]) -> None:
    """Or, where the machine is slow, within three times what typer takes for no flags at all."""
    ours, empty = command_line(*arguments), [sys.executable, "-c", EMPTY]
    processor_time(ours)  # writes what the interpreter caches
    pairs = [(processor_time(ours), processor_time(empty)) for _ in range(4)]
    ours_s, empty_s = (min(column) for column in zip(*pairs, strict=True))
    assert ours_s < max(BUDGET_S, 3 * empty_s)


def processor_time(command: list[str]) -> float:
    """Run *command* and return how many seconds of a processor it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["check", "-h"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import json, sys\n"
        "from reactor_runtime.cli.main import run\n"
        f"status = run({arguments!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    loaded = set(json.loads(done.stderr))
    assert sorted(loaded & set(HEAVY)) == []


def test_help_names_every_command_and_every_flag() -> None:
    out = reactor("--help").out
    for command in (
        "serve", "check", "schema", "init", "doctor", "docs",
        "launch", "control-plane", "agent", "submit", "jobs",
    ):  # fmt: skip
        assert command in out
    for command in ("serve", "check", "doctor"):
        out = reactor(command, "--help", COLUMNS="200").out
        assert [s.flag for s in SETTINGS if s.flag not in out] == []


def test_no_command_shows_help_and_is_a_mistake() -> None:
    ran = reactor()
    assert ran.status == 2
    assert "serve" in ran.out
    assert ran.err == ""


def test_the_version_is_printed() -> None:
    assert reactor("--version").out.strip() == f"reactor_runtime {__version__}"


@pytest.mark.parametrize(
    "command",
    ["serve", "check", "schema", "init", "doctor", "docs", "launch", "agent", "control-plane"],
)
def test_help_fits_a_terminal_of_eighty_columns(command: str) -> None:
    out = reactor(command, "--help", COLUMNS="80", TERMINAL_WIDTH="80").out
    assert "…" not in out
    text = [line.rstrip() for line in out.partition("╭")[0].splitlines()]
    short = [n for n, line in enumerate(text) if 0 < len(line.split()) < 4]
    assert [text[n] for n in short if n + 1 < len(text) and text[n + 1]] == []  # broken in mid-line
    for setting in SETTINGS if command in ("serve", "check", "doctor") else ():
        assert f" {setting.flag} " in out


def test_a_switch_is_turned_off_by_its_other_flag(tmp_path: Path) -> None:
    app = str(write_model(tmp_path / "app", "runtime: {import: 'model:M', oversubscribe: true}"))
    for flags, shown in (
        ((), "yes         reactor.yaml"),
        (("--no-oversubscribe",), "no          flag"),
        (("--oversubscribe",), "yes         flag"),
    ):
        out = reactor("check", app, *flags).out
        (line,) = [each for each in out.splitlines() if each.startswith("  oversubscribe")]
        assert " ".join(shown.split()) in " ".join(line.split())


@pytest.mark.parametrize(
    "command", [[], ["serve"], ["launch"], ["submit"], ["jobs"], ["jobs", "logs"]]
)
def test_a_flag_that_takes_no_value_shows_none(command: list[str]) -> None:
    out = reactor(*command, "--help").out
    assert "--help" in out
    assert "bool" not in out.lower()
