"""A source folder as one archive: packed the same way every time, named by its hash."""

import errno
import gzip
import hashlib
import os
import tarfile
from collections.abc import Collection
from pathlib import Path

from reactor_runtime.errors import SourceError

MAX_SOURCE_BYTES = 1024**3
_LEFT_OUT = frozenset({"__pycache__", ".git", ".venv", ".mypy_cache", ".ruff_cache", "outputs"})
_MARK = ".not-part-of-a-source"
_OF_STATE = ("", "-wal", "-shm", "-journal")  # SQLite's files of one database


def keep_out(folder: Path) -> None:
    """Mark *folder*, made if need be: no source that it lies in holds it.

    Nor, where it is called ``NAME.files``, the database ``NAME`` beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).touch()


def pack_source(folder: Path, archive: Path, secrets: Collection[Path] = ()) -> str:
    """Write *folder* to *archive* (tar.gz) and return the archive's SHA-256 in hex.

    What builds, environments and the control plane leave in it is not part of it; nor are the
    files *secrets*, under whatever name.

    Raises:
        SourceError: A link leaves the folder, or it is too large.
    """
    total = 0
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=1) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _members(folder, secrets):
            entry = tar.gettarinfo(path, arcname=str(path.relative_to(folder)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            if entry.issym():  # however it says so: on a node the folder lies elsewhere
                entry.linkname = os.path.relpath(_target(path, folder), path.parent.resolve())
            total += entry.size
            if total > MAX_SOURCE_BYTES:
                raise SourceError(str(folder), f"holds more than {MAX_SOURCE_BYTES} bytes")
            if entry.isreg():
                entry.type = tarfile.REGTYPE  # a hard link is a file like any other
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)
    return hash_file(archive)


def unpack_source(archive: Path, folder: Path, sha256: str) -> None:
    """Unpack *archive* into the fresh *folder*.

    Raises:
        SourceError: The archive is not the one named, or a member leaves the folder.
    """
    if hash_file(archive) != sha256:
        raise SourceError(str(archive), f"is not the archive {sha256}: its content differs")
    folder.mkdir(parents=True)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar.extractall(folder, filter="data")
    except (tarfile.TarError, OSError) as error:
        raise SourceError(str(archive), f"cannot be unpacked: {error}") from error


def hash_file(path: Path) -> str:
    """Return a file's SHA-256 in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _members(folder: Path, secrets: Collection[Path]) -> list[Path]:
    found: list[Path] = []
    hidden = {secret.resolve() for secret in secrets}
    for place, folders, files in os.walk(folder):
        left_out = _left_out(Path(place), folders)
        folders[:] = sorted(name for name in folders if name not in left_out)
        for name in sorted([*folders, *files]):
            path = Path(place, name)
            if name in left_out or _end_of(path) in hidden:
                continue
            if path.is_symlink():
                _target(path, folder)
            if path.is_symlink() or path.is_file() or path.is_dir():
                found.append(path)
    return found


def _left_out(place: Path, folders: Collection[str]) -> set[str]:
    """Return which names in *place*, where *folders* are, no source holds."""
    marked = {name for name in folders if (place / name / _MARK).exists()}
    venvs = {name for name in folders if (place / name / "pyvenv.cfg").exists()}
    shelves = [name.removesuffix(".files") for name in marked if name.endswith(".files")]
    states = {name + end for name in shelves for end in _OF_STATE}
    return {*marked, *venvs, *states, *_LEFT_OUT.intersection(folders)}


def _target(link: Path, folder: Path) -> Path:
    target = _end_of(link)
    if not target.is_relative_to(folder.resolve()):
        raise SourceError(str(link), f"is a link that leaves {folder}")
    return target


def _end_of(path: Path) -> Path:
    try:
        path.stat()
    except OSError as error:  # one that leads nowhere has an end all the same
        if error.errno == errno.ELOOP:
            raise SourceError(str(path), "is a link that leads to itself") from None
    return Path(os.path.realpath(path))
