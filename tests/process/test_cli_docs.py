"""``reactor docs``: the pages are there, however the package was installed."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.e2e.serving import ROOT
from tests.process.cli import environment, reactor

PAGES = {path.stem for path in (ROOT / "docs").glob("*.md")}


def test_all_pages_are_listed_with_their_titles(tmp_path: Path) -> None:
    ran = reactor("docs", cwd=tmp_path)
    assert ran.status == 0
    listed = dict(re.findall(r"^(\S+)  +(\S.*)$", ran.out, re.MULTILINE))
    assert listed.keys() == PAGES | {"decisions"}
    assert listed["testing"] == "Testing a model"


@pytest.mark.parametrize("name", ["first-model", "first-model.md"])
def test_a_page_is_printed_as_it_is(name: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "first-model.md").read_text(encoding="utf-8")
    assert reactor("docs", name, cwd=tmp_path).out == text


def test_decisions_are_printed_together_or_by_the_name_a_page_links_to(tmp_path: Path) -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    texts = [path.read_text(encoding="utf-8") for path in decisions]
    assert reactor("docs", "decisions", cwd=tmp_path).out == "\n".join(texts)
    assert reactor("docs", f"decisions/{decisions[2].name}", cwd=tmp_path).out == texts[2]


def test_an_unknown_page_is_one_line(tmp_path: Path) -> None:
    ran = reactor("docs", "frist", cwd=tmp_path)
    assert ran.status == 2
    (line,) = ran.err.splitlines()
    assert "'frist'" in line
    assert "first-model" in line


def test_what_init_writes_names_pages_that_exist(tmp_path: Path) -> None:
    reactor("init", "night-sky", cwd=tmp_path)
    readme = (tmp_path / "night-sky" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", readme, re.MULTILINE)
    named = set(re.findall(r"`([a-z-]+)`", " ".join(rows)))
    manifest = (tmp_path / "night-sky" / "reactor.yaml").read_text(encoding="utf-8")
    named |= set(re.findall(r"reactor docs ([a-z-]+)", manifest))
    assert {"first-model", "manifest", "testing"} <= named <= PAGES


def test_a_wheel_holds_the_pages_and_finds_them(tmp_path: Path) -> None:
    builder = pytest.importorskip("hatchling.build")
    code = f"import {builder.__name__} as b; print(b.build_wheel({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    folder = tmp_path / "installed" / "reactor_runtime" / "docs"
    assert {path.stem for path in folder.glob("*.md")} == PAGES
    assert any((folder / "decisions").glob("*.md"))
    assert list(folder.rglob("*.pyc")) == []
    (folder / "testing.md").write_text("# As installed\n")
    code = "from reactor_runtime.cli.main import run; raise SystemExit(run(['docs', 'testing']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True,
        env=environment(PYTHONPATH=os.fspath(tmp_path / "installed")),
    )  # fmt: skip
    assert done.stdout == "# As installed\n", done.stderr
