"""UploadWriter: one file as it comes in, written and hashed, and gone again if it ends badly."""

import hashlib
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UploadWriter:
    """Writes a file on whichever thread; calls never overlap, and ``discard`` ends them all.

    Args:
        path: A name that nobody uses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._is_discarded = False
        self._hash = hashlib.sha256()
        self._lock = threading.Lock()

    def write(self, pieces: Sequence[bytes]) -> None:
        """Append *pieces*; the first time makes the file.

        Raises:
            OSError: There is no room, or no folder.
        """
        with self._lock:
            if self._is_discarded:
                return
            if self._descriptor < 0:
                self._descriptor = os.open(self.path, _FLAGS, 0o600)
            for piece in pieces:
                self._hash.update(piece)
                left = memoryview(piece)
                while left:
                    left = left[os.write(self._descriptor, left) :]

    def finish(self) -> str:
        """Close the file and return the SHA-256 of what was written, in hex."""
        with self._lock:
            self._close()
            return self._hash.hexdigest()

    def discard(self) -> None:
        """Remove the file. Idempotent."""
        with self._lock:
            self._is_discarded = True
            self._close()
            with suppress(OSError):
                self.path.unlink()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
