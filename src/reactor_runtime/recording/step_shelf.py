"""StepShelf: the results of steps, a folder each, kept within a bounded time and size.

<folder>/<session>/<step>/output.mp4, result.json, and what the author put on record
"""

import errno
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reactor_runtime.clock import Clock
from reactor_runtime.scratch_folder import ScratchFolder

_BLOCK_BYTES = 4096  # what the smallest file, and a folder, take on disk


class KeptSteps:
    """The steps of one session.

    Attributes:
        ended_at: Monotonic seconds at which the session ended; ``None`` while it lasts.
        steps: Number of each step to the sizes of its files in bytes, the oldest first.
    """

    def __init__(self) -> None:
        self.ended_at: float | None = None
        self.steps: dict[int, dict[str, int]] = {}


class StepShelf:
    """Stores folders and forgets them again. For any thread; storing is for one.

    Args:
        folder: Where they lie; open.
        max_bytes: Bytes of all of them; past it the oldest step goes.
        min_free_bytes: Bytes that they leave free on the disk.
        keep_s: Seconds the steps of a session stay after it has ended.
        clock: The time.
    """

    def __init__(
        self,
        folder: ScratchFolder,
        *,
        max_bytes: int,
        min_free_bytes: int = 0,
        keep_s: float,
        clock: Clock,
    ) -> None:
        self._folder, self._clock = folder, clock
        self._max_bytes, self._min_free_bytes = max_bytes, min_free_bytes
        self._keep_s = keep_s
        self._lock = threading.Lock()  # never held while a disk works
        self._sessions: dict[str, KeptSteps] = {}  # the oldest first
        self._names: dict[str, str] = {}
        self._bytes = 0

    def begin(self, session_id: str) -> None:
        """Note that steps of that session may come."""
        with self._lock:
            self._sessions.setdefault(session_id, KeptSteps())

    def end(self) -> None:
        """Let the time run out for the sessions there are."""
        with self._lock:
            for kept in self._sessions.values():
                kept.ended_at = kept.ended_at or self._clock.now()

    def name(self, session_id: str, given: str) -> None:
        """Let a session be found by another name, too."""
        with self._lock:
            self._names[given] = session_id

    def store(self, session_id: str, number: int, files: Mapping[str, bytes]) -> None:
        """Keep the files of a step; where there is no room for them, the oldest steps go.

        Raises:
            OSError: They cannot be kept; nothing of them is left.
            ValueError: A name is none that a file can have.
        """
        sizes = {name: len(content) for name, content in files.items()}
        wanted = _on_disk(sizes)
        if wanted > self._max_bytes:
            raise OSError(errno.EFBIG, "a step is larger than all of them may be")
        while not self._fits(wanted):
            if not self._drop_oldest():
                raise OSError(errno.ENOSPC, "the disk would have less free than it must")
        path = self._path(session_id, number)
        try:
            path.mkdir(parents=True)
            for name, content in files.items():
                (path / name).write_bytes(content)
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
            raise
        with self._lock:
            self._sessions.setdefault(session_id, KeptSteps()).steps[number] = sizes
            self._bytes += wanted

    def find(self, session_id: str) -> tuple[str, dict[int, dict[str, int]]] | None:
        """Return the id and the steps of a session, ``None`` if it is unknown or gone."""
        with self._lock:
            known = self._names.get(session_id, session_id)
            kept = self._sessions.get(known)
            is_gone = kept is None or self._is_over(kept)
            return None if kept is None or is_gone else (known, dict(kept.steps))

    def newest(self) -> str | None:
        """Return the id of the session that began last."""
        with self._lock:
            return next(reversed(self._sessions), None)

    def read(self, session_id: str, number: int, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            OSError: It is not there, or not there any more.
        """
        with self._lock:
            kept = self._sessions.get(session_id)
            if kept is None or self._is_over(kept) or name not in kept.steps.get(number, ()):
                raise FileNotFoundError(name)
        return (self._path(session_id, number) / name).read_bytes()

    def expire(self) -> None:
        """Remove what has been kept long enough."""
        with self._lock:
            over = [each for each, kept in self._sessions.items() if self._is_over(kept)]
            for session_id in over:
                kept = self._sessions.pop(session_id)
                self._bytes -= sum(map(_on_disk, kept.steps.values()))
            self._names = {a: b for a, b in self._names.items() if b not in over}
        for session_id in over:
            with suppress(FileNotFoundError):  # the folder of all of them is gone
                shutil.rmtree(self._folder.path / session_id, ignore_errors=True)

    def close(self) -> None:
        """Remove everything. Idempotent."""
        with self._lock:
            self._sessions.clear()
            self._names.clear()
        self._folder.close()

    def _fits(self, wanted: int) -> bool:
        free = shutil.disk_usage(self._folder.path).free - self._min_free_bytes
        return self._bytes + wanted <= self._max_bytes and wanted <= free

    def _drop_oldest(self) -> bool:
        with self._lock:
            found = next(((i, kept) for i, kept in self._sessions.items() if kept.steps), None)
            if found is None:
                return False
            session_id, kept = found
            number = next(iter(kept.steps))
            self._bytes -= _on_disk(kept.steps.pop(number))
        shutil.rmtree(self._path(session_id, number), ignore_errors=True)
        return True

    def _is_over(self, kept: KeptSteps) -> bool:
        return kept.ended_at is not None and kept.ended_at + self._keep_s <= self._clock.now()

    def _path(self, session_id: str, number: int) -> Path:
        return self._folder.path / session_id / f"{number:06d}"


def _on_disk(sizes: Mapping[str, int]) -> int:
    blocks = sum(-(-size // _BLOCK_BYTES) for size in sizes.values())
    return _BLOCK_BYTES * (blocks + 1)
