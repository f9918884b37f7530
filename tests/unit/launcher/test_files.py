"""Sources, logs, outputs, checkpoints: what is sent arrives, and nothing leaves its folder."""

import contextlib
import io
import tarfile
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from reactor_runtime.errors import SourceError
from reactor_runtime.launcher.checkpoints import newest_checkpoint
from reactor_runtime.launcher.file_shelf import FileShelf
from reactor_runtime.launcher.job_store import JobStore
from reactor_runtime.launcher.source_bundle import hash_file, pack_source, unpack_source
from reactor_runtime.launcher.task_run import matching


def write_source(folder: Path) -> Path:
    (folder / "pkg" / "__pycache__").mkdir(parents=True)
    (folder / "pkg" / "__pycache__" / "x.pyc").touch()
    (folder / "pkg" / "m.py").write_text("A = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link.py").symlink_to("pkg/m.py")
    return folder


def test_a_source_is_packed_alike_twice_and_unpacked_whole(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    first = pack_source(source, tmp_path / "a.tar.gz")
    (source / "pkg" / "m.py").touch()
    assert pack_source(source, tmp_path / "b.tar.gz") == first
    target = tmp_path / "fresh"
    unpack_source(tmp_path / "a.tar.gz", target, first)
    names = sorted(str(p.relative_to(target)) for p in target.rglob("*"))
    assert names == ["link.py", "pkg", "pkg/m.py", "run.sh"]
    assert (target / "link.py").read_text() == "A = 1\n"
    assert (target / "run.sh").stat().st_mode & 0o100


async def test_a_source_holds_neither_state_nor_shelf_nor_outputs_nor_token(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    state, token = source / "deep" / "jobs.db", source / "token"
    shelf = FileShelf(source / "deep" / "jobs.db.files", source / "results")
    JobStore(state).close()
    for end in ("-wal", "-shm", "-journal"):
        state.with_name(state.name + end).touch()
    await shelf.receive(chunks(b"a"), shelf.output("job-1", 0, "a"), sha256(b"a").hexdigest(), 10)
    token.write_text("a secret of the control plane")
    (source / "also-token").symlink_to("token")
    (source / "env").mkdir()
    (source / "env" / "pyvenv.cfg").touch()
    (source / "data.sqlite").touch()  # the author's own
    packed = pack_source(source, tmp_path / "a.tar.gz", [token])
    archive = shelf.source(packed)
    (tmp_path / "a.tar.gz").rename(archive)
    assert pack_source(source, tmp_path / "b.tar.gz", [token]) == packed
    with tarfile.open(archive) as tar:
        names = sorted(tar.getnames())
    assert names == ["data.sqlite", "deep", "link.py", "pkg", "pkg/m.py", "run.sh"]


async def test_an_outputs_folder_that_was_there_stays_part_of_a_source(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    shelf = FileShelf(tmp_path / "f", source / "pkg")
    target = shelf.output("job-1", 0, "a")
    await shelf.receive(chunks(b"a"), target, sha256(b"a").hexdigest(), 10)
    pack_source(source, tmp_path / "a.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        assert "pkg/m.py" in tar.getnames()


def test_a_link_out_of_the_source_is_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    (source / "out").symlink_to("/etc/passwd")
    with pytest.raises(SourceError, match="leaves"):
        pack_source(source, tmp_path / "a.tar.gz")


def test_a_link_inside_the_source_may_be_written_in_any_way(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    (source / "absolute.py").symlink_to(source / "pkg" / "m.py")
    (source / "pkg" / "around.py").symlink_to("../../source/pkg/m.py")
    sha256 = pack_source(source, tmp_path / "a.tar.gz")
    target = tmp_path / "fresh"
    unpack_source(tmp_path / "a.tar.gz", target, sha256)
    for name in ("absolute.py", "pkg/around.py"):
        assert (target / name).resolve() == target / "pkg" / "m.py"


def test_a_link_that_leads_nowhere_but_to_itself_is_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    (source / "loop").symlink_to("loop")
    with pytest.raises(SourceError, match=r"loop.*link that leads to itself"):
        pack_source(source, tmp_path / "a.tar.gz")


@pytest.mark.parametrize("name", ["../evil", "/abs/evil"])
def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    target = tmp_path / "deep" / "fresh"
    with contextlib.suppress(SourceError):
        unpack_source(archive, target, hash_file(archive))
    assert not (tmp_path / "deep" / "evil").exists()
    assert not Path("/abs/evil").exists()


def test_another_archive_than_the_one_named_is_refused(tmp_path: Path) -> None:
    pack_source(write_source(tmp_path / "s"), tmp_path / "a.tar.gz")
    with pytest.raises(SourceError, match="differs"):
        unpack_source(tmp_path / "a.tar.gz", tmp_path / "t", "0" * 64)
    assert not (tmp_path / "t").exists()


def test_a_log_sent_twice_is_there_once(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "f", tmp_path / "o")
    assert shelf.append_log("a.1", 0, 0, b"one\n") == 4
    assert shelf.append_log("a.1", 0, 0, b"one\n") == 4
    assert shelf.append_log("a.1", 0, 2, b"e\ntwo\n") == 8
    assert shelf.append_log("a.1", 0, 100, b"lost?") == 8
    assert shelf.log("a.1", 0).read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", "a\0b"])
def test_an_output_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    shelf = FileShelf(tmp_path / "f", tmp_path / "o")
    with pytest.raises(SourceError):
        shelf.output("job-1", 0, name)
    with pytest.raises(SourceError):
        shelf.output("../job", 0, "x")


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "f", tmp_path / "o")
    target = shelf.output("job-1", 0, "deep/a.txt")
    with pytest.raises(SourceError, match="damaged"):
        await shelf.receive(chunks(b"ab"), target, "0" * 64, 10)
    with pytest.raises(SourceError, match="larger than 1 bytes"):
        await shelf.receive(chunks(b"a", b"b"), target, "0" * 64, 1)
    assert not target.exists()
    assert list((tmp_path / "f" / "arriving").iterdir()) == []


def test_outputs_that_match_and_none_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "w" / "d").mkdir(parents=True)
    (tmp_path / "w" / "d" / "a.txt").touch()
    (tmp_path / "w" / "b.txt").touch()
    (tmp_path / "secret.txt").touch()
    (tmp_path / "w" / "l.txt").symlink_to(tmp_path / "secret.txt")
    assert sorted(matching(tmp_path / "w", "**/*.txt")) == ["b.txt", "d/a.txt"]
    assert sorted(matching(tmp_path / "w", "c.*")) == []


def test_the_newest_complete_checkpoint(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path / "none") is None
    for name, is_complete in (("step-9", True), ("step-10", True), ("step-11", False)):
        (tmp_path / name).mkdir()
        if is_complete:
            (tmp_path / name / "COMPLETE").touch()
    (tmp_path / "notes").mkdir()
    assert newest_checkpoint(tmp_path) == str(tmp_path / "step-10")
