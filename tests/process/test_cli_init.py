"""``reactor init``: what it writes works at once."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.process.cli import environment, reactor


def test_what_it_writes_passes_its_own_test(tmp_path: Path) -> None:
    strict = '[tool.pytest.ini_options]\nno_such_option = 1\nfilterwarnings = ["error"]\n'
    (tmp_path / "pyproject.toml").write_text(strict)  # of a repository around it
    ran = reactor("init", "night-sky", cwd=tmp_path)
    assert ran.status == 0, ran.err
    folder = tmp_path / "night-sky"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "night_sky.py", "pytest.ini", "reactor.yaml", "test_night_sky.py",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder, capture_output=True, text=True, timeout=60, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_what_it_writes_can_be_checked_and_described(tmp_path: Path) -> None:
    reactor("init", "Sky2", cwd=tmp_path)
    checked = reactor("check", "Sky2", cwd=tmp_path)
    assert checked.status == 0
    assert re.search(r"^  ignored +none$", checked.out, re.MULTILINE)
    document = json.loads(reactor("schema", "Sky2", cwd=tmp_path).out)
    assert document["info"]["title"] == "Sky2"
    assert sorted(document["paths"]) == ["/events/set_color", "/events/set_speed", "/events/turn"]


def test_what_it_writes_needs_no_formatting(tmp_path: Path) -> None:
    reactor("init", "night-sky", cwd=tmp_path)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "."],
            cwd=tmp_path / "night-sky", capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "-x", "1st", "a b", "a.b", "ä", "x" * 65, "class", "match", "random", "numpy",
     "aiortc", "reactor-runtime", "no/such/place", "a\nb", "_x", "x_"],
)  # fmt: skip
def test_a_bad_name_is_one_line(tmp_path: Path, name: str) -> None:
    ran = reactor("init", "--", name, cwd=tmp_path)
    assert ran.status == 2
    (line,) = ran.err.splitlines()
    assert "NAME" in line
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("keep")
    ran = reactor("init", "mine", cwd=tmp_path)
    assert ran.status == 2
    assert "exists" in ran.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
