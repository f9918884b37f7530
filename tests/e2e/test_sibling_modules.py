"""``reactor serve`` finds a model's sibling modules from anywhere."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.serving import WORLDS, free_port, serving

MODEL = '''
import numpy as np
from palette import GREY

from reactor_runtime import Output, ReactorModel, Video


class Picture(Output):
    main_video: Video


class Sibling(ReactorModel):
    """Grey."""

    def load(self, config_path):
        import late_sibling

        self.level = late_sibling.LEVEL

    def generate(self, input):
        return Picture(main_video=np.full((16, 16, 3), GREY, np.uint8))
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with siblings, one of them named like a standard module."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "palette.py").write_text("GREY = 99\n")
    (tmp_path / "late_sibling.py").write_text("LEVEL = 1\n")
    for name in ("queue", "selectors", "random"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('it hid a standard module')\n")
    (tmp_path / "reactor.yaml").write_text("runtime:\n  import: model:Sibling\n")
    return tmp_path


@pytest.mark.parametrize("ranks", WORLDS)
@pytest.mark.parametrize("how", ["from its folder", "from elsewhere", "with --reload"])
def test_siblings_are_found_when_served(folder: Path, how: str, ranks: int) -> None:
    target, cwd = (str(folder), Path("/")) if how == "from elsewhere" else (".", folder)
    flags = (*WORLDS[ranks], *(["--reload"] if how == "with --reload" else []))
    with serving(target, *flags, cwd=cwd) as served:
        assert json.loads(served.get("/schema")[1])["info"]["title"] == "Sibling"
        (line,) = [line for line in served.log().splitlines() if "module_hidden" in line]
        assert all(name in line for name in ("queue", "random", "selectors"))
        assert served.stop() == 0


def test_siblings_are_found_by_the_modules_that_run_in_the_folder(folder: Path) -> None:
    def run(module: str, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env={**os.environ, "PORT": str(free_port())},
            stdout=subprocess.PIPE,
            text=True,
        )

    with run("reactor_runtime.schema", "--path", ".") as schema:
        assert schema.stdout is not None
        assert json.load(schema.stdout)["info"]["title"] == "Sibling"
    with run("reactor_runtime.serve") as server:
        assert server.stdout is not None
        lines = [server.stdout.readline() for _ in range(3)]
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0
    assert lines[2].startswith("Ready")
