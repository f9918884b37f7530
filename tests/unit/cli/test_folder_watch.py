import os
from pathlib import Path

import pytest

from reactor_runtime.cli.folder_watch import FolderWatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text("a = 1\n")
    (tmp_path / "reactor.yaml").write_text("runtime: {}\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "net.py").write_text("b = 1\n")
    return tmp_path


def test_nothing_changes_by_looking(folder: Path) -> None:
    watch = FolderWatch(folder)
    assert watch.changes() == []
    assert watch.changes() == []


def test_added_changed_and_removed_files_are_told_once(folder: Path) -> None:
    watch = FolderWatch(folder)
    (folder / "model.py").write_text("a = 22\n")
    (folder / "new.yml").touch()
    (folder / "parts" / "net.py").unlink()
    expected = [folder / "model.py", folder / "new.yml", folder / "parts" / "net.py"]
    assert watch.changes() == expected
    assert watch.changes() == []


def test_a_file_of_the_same_size_is_told_by_its_time(folder: Path) -> None:
    watch = FolderWatch(folder)
    os.utime(folder / "model.py", (1, 1))
    assert watch.changes() == [folder / "model.py"]


@pytest.mark.parametrize("place", ["notes.txt", ".venv/x.py", "__pycache__/x.py", ".git/x.yaml"])
def test_other_files_do_not_matter(folder: Path, place: str) -> None:
    watch = FolderWatch(folder)
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).touch()
    assert watch.changes() == []


def test_a_folder_that_goes_away_raises_nothing(tmp_path: Path) -> None:
    watch = FolderWatch(tmp_path / "never")
    assert watch.changes() == []
