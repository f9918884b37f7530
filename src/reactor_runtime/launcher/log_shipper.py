"""LogShipper: a node's log on its way to the control plane, from a file, in bounded pieces."""

import threading
import time
from pathlib import Path

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError
from reactor_runtime.launcher.file_client import FileClient

_PIECE = 256 * 1024
_RETRY_S = 0.5


class LogShipper:
    """Writes lines to a file and sends the file after them; nothing is held in memory."""

    def __init__(self, file: Path, client: FileClient, attempt_id: str, node_rank: int) -> None:
        self._file, self._client = file, client
        self._attempt_id, self._node_rank = attempt_id, node_rank
        self._sent = 0
        self._more = threading.Event()
        self._ends_at: float | None = None
        file.touch()
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        self._thread.start()

    def write(self, lines: bytes) -> None:
        """Take lines."""
        if lines:
            with self._file.open("ab") as file:
                file.write(lines)
            self._more.set()

    def finish(self, patience_s: float) -> bool:
        """Send the rest, trying for *patience_s*; return whether all of it has arrived."""
        self._ends_at = time.monotonic() + patience_s
        self._more.set()
        self._thread.join(patience_s + 10)
        return self._sent >= self._file.stat().st_size

    def _run(self) -> None:
        while True:
            self._more.clear()
            with self._file.open("rb") as file:
                file.seek(self._sent)
                piece = file.read(_PIECE)
            if piece:
                if not self._send(piece):
                    if self._is_late():
                        return
                    time.sleep(_RETRY_S)
            elif self._ends_at is not None:
                return
            else:
                self._more.wait()

    def _send(self, piece: bytes) -> bool:
        try:
            self._sent = self._client.send_log(self._attempt_id, self._node_rank, self._sent, piece)
        except (ControlPlaneAbsentError, ControlPlaneError):
            return False
        return True

    def _is_late(self) -> bool:
        return self._ends_at is not None and time.monotonic() > self._ends_at
