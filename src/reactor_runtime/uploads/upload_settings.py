"""UploadSettings: how much clients may send, where it is kept, how long things may take."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSettings:
    """Every limit and delay of uploads, in one frozen value.

    Attributes:
        parent: The folder in which this user's files are kept; ``None`` for that of temporary
            files.
        max_file_bytes: The largest file.
        max_session_bytes: All files of one session together; each counts as 64 KiB at least.
        min_free_bytes: What a file must leave free on the disk.
        max_picture_pixels: Width times height of the largest picture, by its own header.
        reservations_per_s: How many files may be reserved per second, in the long run.
        reservation_burst: How many may be at once.
        max_receiving: How many files may be on their way at once; each takes 1 MiB of memory.
        reservation_s: How long a reservation without its file counts.
        stall_timeout_s: The longest pause in a file that is being sent.
        min_bytes_per_s: How fast one must be sent altogether.
        resolve_timeout_s: How long a command waits for a file that is still on its way.
    """

    parent: Path | None = None
    max_file_bytes: int = 256 << 20
    max_session_bytes: int = 1 << 30
    min_free_bytes: int = 512 << 20
    max_picture_pixels: int = 100_000_000
    reservations_per_s: float = 100.0
    reservation_burst: int = 500
    max_receiving: int = 64
    reservation_s: float = 120.0
    stall_timeout_s: float = 10.0
    min_bytes_per_s: float = 16 * 1024
    resolve_timeout_s: float = 8.0
