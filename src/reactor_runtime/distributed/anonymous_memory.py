"""Memory that two processes share and nobody can name: it is gone with its last user.

It is passed by descriptor, its size is sealed, and its pages are there before anybody writes: what
cannot be had is an error here and not a bus error later.
"""

import errno
import fcntl
import mmap
import os
import tempfile
from pathlib import Path
from typing import Final

from reactor_runtime.errors import MemoryShortError

CHECKED_FROM: Final = 1 << 20  # bytes below which nobody asks whether there is room
_CURE = "give the machine or the container more memory, or make the frames or chunks smaller"
_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


class AnonymousMemory:
    """A block of shared memory, mapped and writable in this process.

    Attributes:
        descriptor: The open file; -1 once closed.
        size: Bytes.
        mapping: The block itself; views on it keep it mapped after ``close``.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor = descriptor
        self.size = size
        self.mapping = map_shared(descriptor, size)

    @classmethod
    def create(cls, name: str, size: int) -> "AnonymousMemory":
        """Return a new block of *size* bytes whose pages are all there.

        Raises:
            MemoryShortError: There is not that much memory.
        """
        check_room(size)
        descriptor = make_anonymous_file(name)
        try:
            os.posix_fallocate(descriptor, 0, size)
            _seal(descriptor)
            return cls(descriptor, size)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.ENOSPC, errno.ENOMEM, errno.EFBIG):
                raise MemoryShortError(size, free_bytes(), _CURE) from error
            raise

    def close(self) -> None:
        """Let go of the block; it lives on where it is still mapped or open. Idempotent."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def make_anonymous_file(name: str) -> int:
    """Return the descriptor of an empty file without a name, for this process alone."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def map_shared(descriptor: int, size: int) -> mmap.mmap:
    """Map a block to read and write, all its pages at once."""
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
    return mmap.mmap(descriptor, size, flags=flags)


def map_private(descriptor: int, size: int) -> mmap.mmap:
    """Map a block so that what is written stays in this process."""
    return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)


def check_room(size: int) -> None:
    """Raise when *size* bytes are more than the machine and the container have left.

    Raises:
        MemoryShortError: They are.
    """
    if size >= CHECKED_FROM and size > (free := free_bytes()):
        raise MemoryShortError(size, free, _CURE)


def free_bytes() -> int:
    """Return the memory that can still be used here; a very large number when unknown."""
    free = _machine_free()
    for limit_file, used_file in _CGROUP_FILES:
        limit, used = _number_in(limit_file), _number_in(used_file)
        if limit is not None and used is not None:
            free = min(free, max(0, limit - used))
    return free


def _machine_free() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 62


def _number_in(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such limit, or "max"
        return None


def _seal(descriptor: int) -> None:
    if hasattr(os, "memfd_create"):
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
