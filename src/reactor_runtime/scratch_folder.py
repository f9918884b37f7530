"""ScratchFolder: files that must not outlive this process, whatever ends it.

    <root>/reactor-<kind>-<random>/     for its owner alone
        .lock                           held for as long as the owner lives

A folder whose lock nobody holds was left by a process that crashed: whoever opens the next one of
its kind removes it. A lock says who lives better than a pid does: it ends with its process, and no
other process can come by it later.
"""

import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from reactor_runtime.log import get_logger

_LOCK = ".lock"
_TRIES = 8
_UNLOCKED = ".new"  # what a folder's name ends with until it is locked

log = get_logger(__name__)


class ScratchFolder:
    """One private folder. A context manager: made by ``open``, gone with all in it by ``close``.

    Args:
        kind: What is in it; folders of other kinds are left alone.
        root: Where it is made, and where crashed ones are looked for; the system's folder for
            temporary files unless given.
    """

    def __init__(self, kind: str, root: Path | None = None) -> None:
        self._prefix = f"reactor-{kind}-"
        self._root = Path(tempfile.gettempdir()) if root is None else root
        self._path: Path | None = None
        self._lock: int | None = None

    @property
    def path(self) -> Path:
        """The folder.

        Raises:
            FileNotFoundError: It is not open.
        """
        if self._path is None:
            raise FileNotFoundError(f"{self._root / self._prefix}* is not open")
        return self._path

    def open(self) -> Path:
        """Remove what crashed processes left, make the folder and return it.

        Raises:
            OSError: The root cannot be made, written to, or locked in.
        """
        self._root.mkdir(parents=True, exist_ok=True)
        self.sweep()
        for _ in range(_TRIES):  # another's sweep may be faster at the lock, and removes it then
            fresh = Path(tempfile.mkdtemp(prefix=self._prefix, suffix=_UNLOCKED, dir=self._root))
            self._lock = _locked(fresh)
            if self._lock is not None:
                break
        else:
            shutil.rmtree(fresh, ignore_errors=True)
            raise OSError(errno.ENOLCK, "files there cannot be locked", str(self._root))
        self._path = fresh.rename(fresh.with_name(fresh.name.removesuffix(_UNLOCKED)))
        return self._path

    def sweep(self) -> None:
        """Remove what crashed processes left, and make nothing."""
        for folder in self._root.glob(f"{self._prefix}*"):
            lock = _locked(folder) if _is_ours(folder) else None
            if lock is None:
                continue
            _remove(folder)
            os.close(lock)
            log.info("scratch_folder_swept", folder=str(folder))

    def close(self) -> None:
        """Remove the folder and all in it. Idempotent; what cannot be removed is logged."""
        path, self._path = self._path, None
        lock, self._lock = self._lock, None
        if path is not None:
            _remove(path)
        if lock is not None:
            os.close(lock)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder of this user with a lock; one without is being made at the moment."""
    with suppress(OSError):
        is_folder = folder.is_dir() and not folder.is_symlink()
        return is_folder and folder.stat().st_uid == os.getuid() and (folder / _LOCK).is_file()
    return False


def _locked(folder: Path) -> int | None:
    """Return the descriptor that holds the folder's lock, ``None`` when another process does."""
    with suppress(OSError):
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return None
        if os.fstat(lock).st_nlink == 0:  # whoever held it has removed it
            os.close(lock)
            return None
        return lock
    return None


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        log.warning("scratch_not_removed", folder=str(folder))
