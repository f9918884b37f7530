"""The pytest plugin, as an author's own test run finds it: by its entry point."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

MODEL = """
import os
import numpy as np
from reactor_runtime import InputField, InputState, Output, ReactorPipeline, Video


class Level(InputState):
    level: int = InputField(default=1, ge=0, le=9)


class Shown(Output):
    main_video: Video


class Levels(ReactorPipeline):
    state: Level
    fps = 10

    def load(self, config_path):
        self.config = config_path.read_text() if config_path else ""

    def inference(self):
        while True:
            if self.state.level == 9:
                raise ValueError("too high")
            yield Shown(main_video=np.full((4, 6, 3), self.state.level, np.uint8))
"""

TESTS = """
import pytest
from levels import Levels


@pytest.mark.parametrize("world_size", [1, 2])
def test_levels(serve_model, world_size):
    client = serve_model(Levels, world_size=world_size).connect()
    client.send("set_level", {"level": 5})
    frames = client.frames("main_video", count=4)
    assert [int(frame.data[0, 0, 0]) for frame in frames] == [5] * 4
    assert frames[-1].time_s == pytest.approx(0.3)


class InTheTestFile(Levels):
    pass


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_model_of_the_test_module(serve_model, world_size):
    assert serve_model(InTheTestFile, world_size=world_size).connect().frames("main_video")


def test_failing(serve_model):
    serve_model(Levels).connect("ada").frames("main_video", count=2, timeout=0.2)
    serve_model(Levels).connect("bob").message("news", timeout=0.2)


def test_unseen(serve_model):
    served = serve_model(Levels)
    served.connect().send("set_level", {"level": 9})
    served.advance(1)


async def test_in_an_async_test(serve_model):
    assert serve_model(Levels).connect().frames("main_video")
"""


OPTIONS = """asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "levels.py").write_text(MODEL)
    (tmp_path / "test_levels.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n" + OPTIONS)
    return tmp_path


def test_it_is_an_entry_point() -> None:
    (point,) = entry_points(group="pytest11", name="reactor_runtime")
    assert point.value == "reactor_runtime.testing.pytest_plugin"


def test_an_authors_tests_pass_and_fail_as_they_should(project: Path) -> None:
    text = run(project, "-rA").stdout
    assert "1 failed, 6 passed, 1 error in" in text
    assert "ERROR test_levels.py::test_unseen - reactor_runtime.errors" in text
    assert "the model failed, and no test looked at it: ValueError" in text
    assert "ValueError: too high" in text


def test_a_failure_points_at_the_authors_line(project: Path) -> None:
    text = run(project, "-k", "failing").stdout
    assert '>       serve_model(Levels).connect("bob").message("news", timeout=0.2)' in text
    assert "no message news within 0.2 s" in text
    assert "session: streaming at" in text
    assert "bob: unread frames" in text
    for file in ("time_flow.py", "loop_thread.py", "fake_client.py"):  # our own frames are hidden
        assert f"{file}:" not in text


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_ranks_find_the_model_whatever_the_import_mode(project: Path, mode: str) -> None:
    (project / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(project)!r})\n" if mode == "importlib" else ""
    )
    done = run(project, f"--import-mode={mode}", "-k", "2 and not failing")
    assert "2 passed" in done.stdout, done.stdout


def test_unused_it_costs_nothing() -> None:
    code = (
        "import sys, reactor_runtime.testing.pytest_plugin as plugin\n"
        "ours = {m for m in sys.modules if m.startswith('reactor_runtime')}\n"
        "print(*sorted(ours), *(m for m in ('numpy', 'pydantic', 'structlog', 'av', 'torch',"
        " 'google.protobuf') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "reactor_runtime",
        "reactor_runtime.lazy_names",
        "reactor_runtime.testing",
        "reactor_runtime.testing.pytest_plugin",
    ]


@pytest.mark.parametrize("module", ["reactor_runtime", "reactor_runtime.testing"])
def test_pytest_is_not_imported_by_the_rest(module: str) -> None:
    every_name = f"import sys, {module} as m; [getattr(m, name) for name in m.__all__]"
    code = f"{every_name}; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
