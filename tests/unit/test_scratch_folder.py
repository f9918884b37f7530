import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reactor_runtime.scratch_folder import ScratchFolder

LIVES = """
import sys
from pathlib import Path
from reactor_runtime.scratch_folder import ScratchFolder
folder = ScratchFolder(sys.argv[1], Path(sys.argv[2])).open()
(folder / "kept").mkdir()
(folder / "kept" / "film").write_bytes(b"x" * 100)
print(folder, flush=True)
sys.stdin.read()
"""


class Owner:
    """Another process that holds a scratch folder until it is killed or told to end."""

    def __init__(self, kind: str, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LIVES, kind, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=20)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner("film", tmp_path)
    yield owner
    owner.kill()


def test_it_is_private_and_gone_with_all_in_it(tmp_path: Path) -> None:
    with ScratchFolder("film", tmp_path / "made" / "too") as scratch:
        assert scratch.path.parent == tmp_path / "made" / "too"
        assert scratch.path.name.startswith("reactor-film-")
        assert scratch.path.stat().st_mode & 0o777 == 0o700
        (scratch.path / "deep" / "er").mkdir(parents=True)
        (scratch.path / "deep" / "er" / "file").write_text("x")
    assert list((tmp_path / "made" / "too").iterdir()) == []
    scratch.close()
    with pytest.raises(FileNotFoundError):
        _ = scratch.path


def test_what_a_killed_process_left_is_swept_by_the_next(owner: Owner, tmp_path: Path) -> None:
    assert (owner.folder / "kept" / "film").exists()
    owner.kill()
    assert owner.process.returncode == -signal.SIGKILL
    assert owner.folder.exists()
    with ScratchFolder("film", tmp_path) as scratch:
        assert list(tmp_path.iterdir()) == [scratch.path]


def test_what_a_live_process_holds_is_left_alone(owner: Owner, tmp_path: Path) -> None:
    with ScratchFolder("film", tmp_path) as one, ScratchFolder("film", tmp_path) as two:
        assert set(tmp_path.iterdir()) == {owner.folder, one.path, two.path}
    assert (owner.folder / "kept" / "film").exists()


def test_a_child_of_a_dead_owner_does_not_hold_its_folder(tmp_path: Path) -> None:
    child = "import subprocess; print(subprocess.Popen(['sleep', '60'], stdout=2).pid)"
    done = subprocess.run(
        [sys.executable, "-c", LIVES.replace("sys.stdin.read()", child), "film", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        check=True,
    )
    folder, pid = done.stdout.split()
    try:
        with ScratchFolder("film", tmp_path):
            assert not Path(folder).exists()
    finally:
        os.kill(int(pid), signal.SIGKILL)


def test_other_kinds_other_names_and_links_are_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".lock").touch()
    others = [tmp_path / "reactor-sound-1", tmp_path / "reactor-film-half", tmp_path / "film"]
    for each in others:
        each.mkdir()
    (others[0] / ".lock").touch()
    (tmp_path / "reactor-film-link").symlink_to(elsewhere)
    (tmp_path / "reactor-film-file").write_text("x")
    before = set(tmp_path.iterdir())
    with ScratchFolder("film", tmp_path):
        pass
    assert set(tmp_path.iterdir()) == before
    assert (elsewhere / ".lock").exists()


def test_a_root_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        ScratchFolder("film", tmp_path / "file").open()
