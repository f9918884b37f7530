"""UploadFolder: where one server keeps the files of its sessions.

::

    <parent>/reactor-uploads-<random>/   this server's alone, while it lives
        <session>/                       removed with its session
            <file>                       named by us, never by a client

Every call but ``new_path`` may block; none of them belongs on an event loop.
"""

import os
import secrets
import shutil
import threading
from pathlib import Path
from typing import Final

from reactor_runtime.errors import UploadStorageError
from reactor_runtime.scratch_folder import ScratchFolder

_TRIES: Final = 8


class UploadFolder:
    """May be used from several threads.

    Args:
        parent: Where it is made; ``None`` for the folder of temporary files.
    """

    def __init__(self, parent: Path | None) -> None:
        self._scratch = ScratchFolder("uploads", parent)
        self._opening = threading.Lock()
        self._is_open = False

    def sweep(self) -> None:
        """Remove what servers that are dead have left."""
        self._scratch.sweep()

    def make(self, session: str) -> None:
        """Make the folder of a session.

        Raises:
            UploadStorageError: It cannot be made.
        """
        try:
            with self._opening:
                if not self._is_open:
                    self._scratch.open()
                    self._is_open = True
            (self._scratch.path / session).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise UploadStorageError(
                f"files cannot be kept here: {error.strerror or error}"
            ) from error

    def new_path(self, session: str) -> Path:
        """Return the path of a file that is not there yet."""
        return self._scratch.path / session / secrets.token_hex(16)

    def free_bytes(self) -> int:
        """Return how much more fits the disk."""
        found = os.statvfs(self._scratch.path)
        return found.f_bavail * found.f_frsize

    def remove(self, session: str) -> None:
        """Remove the folder of a session, though somebody may still be putting a file there."""
        with self._opening:
            if self._is_open:
                _remove(self._scratch.path / session)

    def close(self) -> None:
        """Remove everything. Idempotent."""
        with self._opening:
            if self._is_open:
                for folder in self._scratch.path.glob("*/"):
                    _remove(folder)
            self._scratch.close()
            self._is_open = False


def _remove(folder: Path) -> None:
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
