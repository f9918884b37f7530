"""What `make bench` makes of the benchmarks' figures, and that every benchmark can be started."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
NAMES = (
    "serve", "distributed", "launcher", "media", "reconnect", "scaling", "soak", "threads",
    "congestion", "broadcasts",
)  # fmt: skip
MACHINE = {
    "processor": "Some Processor",
    "cores": 2,
    "memory_gb": 24,
    "system": "Linux x86_64",
    "versions": {"ours": {"Python": "3.11.7", "aiortc": "1.16.0"}},
    "no_peer": "",
}


def run(program: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(BENCHMARKS / f"{program}.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def spread(median: float, p99: float, count: int = 100) -> dict[str, float]:
    return {"median": median, "p99": p99, "count": count}


def report(figures: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({"figures": figures, "curves": [], "notes": [], "date": "2026-01-31", **more})


ROUND_TRIP = {
    "name": "round trip, 2 ranks",
    "unit": "ms",
    "ours": spread(0.06, 0.2),
    "peer": spread(0.24, 1.5),
    "floor": spread(0.04, 0.05),
    "goals": ["<= 0.5 peer", "<= 1.2 floor", "<= 1"],
}
ROW = (
    "| round trip, 2 ranks | ms | 0.06 | 0.2 | 0.24 | 1.5 | 0.04 | 0.25 | 1.5 "
    "| <= 0.5 peer: met; <= 1.2 floor: missed; <= 1: met | 100 |"
)
HEADLINE_ROW = "| round trip, 2 ranks | ms | 0.06 | 0.24 | 0.04 | 0.25 | 1.5 |"


@pytest.fixture
def found(tmp_path: Path) -> Path:
    folder = tmp_path / "found"
    folder.mkdir()
    (folder / "machine.json").write_text(json.dumps(MACHINE))
    (folder / "distributed.json").write_text(report([ROUND_TRIP], notes=["Took 7 s."]))
    return folder


def test_results_show_medians_ratios_goals_and_the_machine(found: Path, tmp_path: Path) -> None:
    done = run("results", str(found), str(tmp_path))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "RESULTS.md").read_text()
    assert ROW in text
    assert HEADLINE_ROW in text
    assert "Some Processor, 2 cores, 24 GiB, Linux x86_64" in text
    assert "Python 3.11.7, aiortc 1.16.0" in text
    assert "`python benchmarks/distributed.py`, 2026-01-31" in text
    assert "Took 7 s." in text


def test_a_goal_beside_the_peer_that_the_floor_misses_alone_says_so(
    found: Path, tmp_path: Path
) -> None:
    goals = ["<= 0.1 peer", "<= 0.2 peer", "<= 0.5 peer"]  # ours is at 0.25, the floor at 0.167
    (found / "distributed.json").write_text(report([{**ROUND_TRIP, "goals": goals}]))
    run("results", str(found), str(tmp_path)).check_returncode()
    verdicts = (
        "<= 0.1 peer: missed, as the floor alone does at 0.167; "
        "<= 0.2 peer: missed; <= 0.5 peer: met |"
    )
    assert verdicts in (tmp_path / "RESULTS.md").read_text()


def test_without_the_peer_its_columns_are_empty_and_the_reason_is_told(
    found: Path, tmp_path: Path
) -> None:
    (found / "machine.json").write_text(json.dumps({**MACHINE, "no_peer": "no Python 3.12"}))
    (found / "distributed.json").write_text(report([{**ROUND_TRIP, "peer": None}]))
    run("results", str(found), str(tmp_path)).check_returncode()
    text = (tmp_path / "RESULTS.md").read_text()
    assert "| round trip, 2 ranks | ms | 0.06 | 0.2 |  |  | 0.04 |  | 1.5 |" in text
    assert "<= 0.5 peer: not measured" in text
    assert "its columns are empty: no Python 3.12" in text


def test_the_readme_gets_the_headline_between_its_marks(found: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    marks = ("<!-- headline figures -->", "<!-- end of headline figures -->")
    readme.write_text(f"Before.\n{marks[0]}\nold\n{marks[1]}\nAfter.\n")
    run("results", str(found), str(tmp_path), "--readme", str(readme)).check_returncode()
    lines = readme.read_text().splitlines()
    assert lines[:2] == ["Before.", marks[0]]
    assert lines[-3:] == [HEADLINE_ROW, marks[1], "After."]
    assert "old" not in lines


def test_curves_become_pictures(found: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots are drawn with the extra `bench`")
    curve = {
        "name": "viewers",
        "title": "CPU by viewers",
        "x": "viewers",
        "y": "cores",
        "series": {"ours": [[1, 0.2], [16, 0.3]], "fit": [[1, 0.2], [16, 0.3]]},
        "note": "A line.",
    }
    (found / "scaling.json").write_text(report([], curves=[curve]))
    run("results", str(found), str(tmp_path)).check_returncode()
    assert (
        "![CPU by viewers](plots/viewers.png)\n\nA line." in (tmp_path / "RESULTS.md").read_text()
    )
    assert (tmp_path / "plots" / "viewers.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_takes_the_same_flags(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    for flag in ("--json", "--quick", "--peer-python"):
        assert flag in done.stdout


def test_a_benchmark_writes_what_results_read(tmp_path: Path) -> None:
    path = tmp_path / "media.json"
    done = run("media", "--quick", "--width", "160", "--height", "90", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert "convert to I420" in [
        figure["name"] for figure in json.loads(path.read_text())["figures"]
    ]
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE))
    run("results", str(tmp_path), str(tmp_path)).check_returncode()
    assert "| convert to I420 | ms |" in (tmp_path / "RESULTS.md").read_text()


@pytest.mark.skipif(not (BENCHMARKS / "RESULTS.md").exists(), reason="`make bench` was not run yet")
def test_the_results_in_the_repository_name_no_place() -> None:
    text = (BENCHMARKS / "RESULTS.md").read_text()
    assert not re.search(r"(/home|/root|/tmp|/work|/opt|https?://)", text)
    for picture in re.findall(r"\]\((.+?\.png)\)", text):
        assert (BENCHMARKS / picture).is_file()
    table = [line for line in text.split("## Headline")[1].split("##")[0].splitlines() if line]
    assert "\n".join(table) in (ROOT / "README.md").read_text()


def test_a_viewer_that_cannot_start_is_told() -> None:
    code = "import sys, rig; print(rig.Viewer(sys.executable, 'no_such').first['event'])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("dead\n", 0)
    assert "a no_such viewer ended at once with status 2" in done.stderr
