"""Where a worker's class may live, and one clear line where it may not."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from tests.process.distributed.traces import group_processes
from tests.waiting import wait_for

from reactor_runtime.distributed.worker import DistributedWorker
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerGroupRefusedError

MakeGroup = Callable[..., WorkerGroup]
WITHIN_S = 10.0

WORKER = """
    from reactor_runtime.experimental import DistributedWorker, WorkerGroup

    class Author(DistributedWorker):
        def generate_chunk(self, index, controls):
            self.frames[:] = index
            return 2
"""
USE = """
    group = WorkerGroup(Author, 2, frame_shape=(2, 4, 4, 3), init_process_group=False)
    with group:
        print("made", int(group.generate(7).mean()))
"""


class InThisModule(DistributedWorker):
    double = staticmethod(lambda value: 2 * value)

    def generate_chunk(self, index: int, controls: object) -> int:
        self.frames[:] = self.double(index)
        return 2


def run(
    folder: Path, *command: str, stdin: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        input=stdin,
        env=os.environ | env | {"WHOSE": str(folder)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert time.monotonic() - began < WITHIN_S
    mark = f"WHOSE={folder}\0".encode()
    wait_for(lambda: group_processes(mark) == set())
    return done


def script(folder: Path, *parts: str) -> Path:
    file = folder / "script.py"
    file.write_text("\n".join(map(dedent, parts)))
    return file


def guarded(use: str) -> str:
    return "if __name__ == '__main__':\n" + "\n".join("    " + x for x in dedent(use).split("\n"))


def test_a_class_of_a_test_module(make_group: MakeGroup) -> None:
    with make_group(InThisModule, frame_shape=(2, 4, 4, 3)) as group:
        assert (group.generate(4) == 8).all()


def test_a_class_of_a_guarded_script(tmp_path: Path) -> None:
    script(tmp_path, WORKER, guarded(USE))
    done = run(tmp_path, "script.py")
    assert (done.stdout, done.returncode) == ("made 7\n", 0), done.stderr


def test_a_script_may_raise_exceptions_of_its_own(tmp_path: Path) -> None:
    breaks = """
        class Broken(Exception):
            pass

        class Raises(Author):
            def generate_chunk(self, index, controls):
                raise Broken(controls)
    """
    use = """
        try:
            with WorkerGroup(Raises, 2, init_process_group=False) as group:
                group.generate(0, Broken("sent"))
        except Exception as error:
            print(type(error.__cause__) is Broken, type(error.__cause__.args[0]) is Broken)
    """
    script(tmp_path, WORKER, breaks, guarded(use))
    done = run(tmp_path, "script.py")
    assert done.stdout == "True True\n", done.stderr


def test_a_class_of_a_package_with_relative_imports(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "size.py").write_text("ROWS = 2\n")
    (package / "rooms.py").write_text("from .size import ROWS\n" + dedent(WORKER))
    script(package, "from .rooms import Author, WorkerGroup", guarded(USE))
    assert run(tmp_path, "-m", "house.script").stdout == "made 7\n"
    script(tmp_path, "from house.rooms import Author, WorkerGroup", guarded(USE))
    assert run(tmp_path, "script.py").stdout == "made 7\n"


def test_a_module_run_by_name(tmp_path: Path) -> None:
    script(tmp_path, WORKER, guarded(USE))
    assert run(tmp_path, "-m", "script").stdout == "made 7\n"


def test_a_module_that_no_import_path_leads_to(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "beside.py").write_text("from .near import ROWS\n" + dedent(WORKER))
    (hidden / "near.py").write_text("ROWS = 2\n")
    loads = """
        import importlib.util, sys, types
        sys.modules["far"] = types.ModuleType("far")
        sys.modules["far"].__path__ = ["hidden"]
        spec = importlib.util.spec_from_file_location("far.beside", "hidden/beside.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["far.beside"] = module
        spec.loader.exec_module(module)
        Author, WorkerGroup = module.Author, module.WorkerGroup
    """
    script(tmp_path, guarded(dedent(loads) + dedent(USE)))
    done = run(tmp_path, "script.py")
    assert done.stdout == "made 7\n", done.stderr


def test_an_unguarded_script_is_one_clear_line(tmp_path: Path) -> None:
    script(tmp_path, WORKER, "import os; print('run')", USE)
    done = run(tmp_path, "script.py")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "put that under `if __name__ == '__main__':`" in done.stderr
    assert "import" in last or "rank" in done.stderr
    assert done.stdout.count("run") == 1


@pytest.mark.parametrize(
    ("making", "words"),
    [
        (
            "def make():\n    class Local(Author): pass\n    return Local\nAuthor = make()",
            "the worker class Local is defined inside a function",
        ),
        ("exec('class Author(Author): pass')", "made"),
        ("space = {}; exec('class Made: pass', space); Author = space['Made']", "Made is not what"),
    ],
    ids=["in a function", "exec in the module", "exec elsewhere"],
)
def test_a_class_that_no_rank_could_find(tmp_path: Path, making: str, words: str) -> None:
    script(tmp_path, WORKER, making, guarded(USE))
    done = run(tmp_path, "script.py")
    if words == "made":  # the module makes the class wherever it is imported
        assert done.stdout == "made 7\n", done.stderr
    else:
        assert done.returncode == 1
        assert words in done.stderr.strip().splitlines()[-1]
        assert "top level of a module" in done.stderr.strip().splitlines()[-1]


def test_a_class_of_an_interactive_session(tmp_path: Path) -> None:
    done = run(tmp_path, "-", stdin=dedent(WORKER) + dedent(USE))
    assert done.returncode == 1
    assert "Author lives in an interactive session; put it in a file" in done.stderr


def test_an_argument_that_cannot_travel_is_named(make_group: MakeGroup) -> None:
    group = make_group(InThisModule, setup_kwargs={"size": 3, "scale": lambda value: value})
    with pytest.raises(WorkerGroupRefusedError, match="argument 'scale' cannot be carried"):
        group.start()


def test_a_group_inside_a_rank_is_refused(make_group: MakeGroup) -> None:
    group = make_group(BuildsAnother)
    with pytest.raises(Exception, match="inside rank 0 of 2; serve with world_size: 1 and workers"):
        group.start()


class BuildsAnother(DistributedWorker):
    def setup(self) -> None:
        WorkerGroup(InThisModule, 2, init_process_group=False)
