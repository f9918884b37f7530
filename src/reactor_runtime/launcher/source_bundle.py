"""A source folder as one archive: packed the same way every time, named by its hash."""

import gzip
import hashlib
import os
import tarfile
from pathlib import Path

from reactor_runtime.errors import SourceError

MAX_SOURCE_BYTES = 1024**3
_LEFT_OUT = frozenset({"__pycache__", ".git", ".venv", ".mypy_cache", ".ruff_cache", "outputs"})


def pack_source(folder: Path, archive: Path) -> str:
    """Write *folder* to *archive* (tar.gz) and return the archive's SHA-256 in hex.

    Raises:
        SourceError: A link leaves the folder, or it is too large.
    """
    total = 0
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=1) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _members(folder):
            entry = tar.gettarinfo(path, arcname=str(path.relative_to(folder)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
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


def _members(folder: Path) -> list[Path]:
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted([*folders, *files]):
            path = Path(place, name)
            if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
                raise SourceError(str(path), f"is a link that leaves {folder}")
            if path.is_symlink() or path.is_file() or path.is_dir():
                found.append(path)
    return found
