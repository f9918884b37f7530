"""What stands between torchrun and the user's script, as a process: seen from the script."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.process.cli import environment
from tests.process.launcher.cluster import soon

from reactor_runtime.launcher.torchrun import RANK_ENTRY

pytestmark = pytest.mark.timeout(400)

SHOWS = """\
import json, sys
import beside
print(json.dumps([__name__, sys.argv[1:], beside.WORD, sys.modules["__main__"].__file__]))
"""


def run(folder: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    report = str(folder / "error.json")
    return subprocess.run(
        [sys.executable, "-m", RANK_ENTRY, *words],
        cwd=folder, capture_output=True, text=True, timeout=soon(120), check=False,
        env=environment(TORCHELASTIC_ERROR_FILE=report, **env),
    )  # fmt: skip


@pytest.mark.parametrize("entrypoint", ["mine/t.py", "module:mine.t"])
def test_the_script_is_main_with_its_own_arguments(tmp_path: Path, entrypoint: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "t.py").write_text(SHOWS)
    beside = tmp_path if entrypoint.startswith("module:") else tmp_path / "mine"
    (beside / "beside.py").write_text("WORD = 'found'\n")
    done = run(tmp_path, entrypoint, "--lr", "0.1", "-m")
    assert done.returncode == 0, done.stderr
    script = str(tmp_path / "mine" / "t.py")
    assert json.loads(done.stdout) == ["__main__", ["--lr", "0.1", "-m"], "found", script]
    assert not (tmp_path / "error.json").exists()


def test_an_exception_is_reported_with_the_scripts_own_traceback(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def f():\n    raise KeyError('no such')\n\nf()\n")
    began = time.time()
    done = run(tmp_path, "t.py")
    assert done.returncode == 1
    said = json.loads((tmp_path / "error.json").read_text())["message"]
    assert said["message"] == "KeyError: 'no such'"
    extra = said["extraInfo"]
    assert extra["py_callstack"].splitlines()[1] == f'  File "{tmp_path}/t.py", line 4, in <module>'
    assert "rank_entry" not in extra["py_callstack"] + done.stderr
    assert "KeyError: 'no such'" in done.stderr
    assert extra["exit_code"] == 1
    assert began <= extra["time_s"] <= time.time()
    assert extra["timestamp"] == str(int(extra["time_s"]))


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [("7", 7, 7), ("'words'", 1, 1), ("None", 0, None), ("0", 0, None), ("", 0, None)],
)
def test_an_exit_keeps_its_status(tmp_path: Path, given: str, status: int, said: int) -> None:
    (tmp_path / "t.py").write_text(f"import sys\nsys.exit({given})\n")
    done = run(tmp_path, "t.py")
    assert done.returncode == status
    assert done.stderr == ("words\n" if given == "'words'" else "")
    report = tmp_path / "error.json"
    code = json.loads(report.read_text())["message"]["extraInfo"]["exit_code"] if said else None
    assert (code, report.exists()) == (said, said is not None)


def test_a_rank_whose_torchrun_is_gone_already_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("open('ran', 'w')\n")
    done = run(tmp_path, "t.py", REACTOR_KEEPER_PID=str(os.getpid()))  # who adopts orphans
    assert done.returncode == 137
    assert not (tmp_path / "ran").exists()
