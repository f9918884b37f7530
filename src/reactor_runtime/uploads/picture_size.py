"""How large a picture says it is, from the header of its file alone.

A file of a few bytes may claim more pixels than a machine has memory for; whoever decodes it finds
out too late. Nothing is decoded here.
"""

from pathlib import Path

_MOST_READS = 10_000  # an honest header takes a handful; one made to keep us busy has no end
_MOST_BYTES = 1 << 20  # of one read
_NEVER_SAID = 1 << 30  # a side no picture has


class _BoundedReader:
    """A file that ends after so many reads, whatever its length."""

    def __init__(self, path: Path) -> None:
        self.reads = 0
        self._file = path.open("rb")

    def read(self, size: int = -1) -> bytes:
        self.reads += 1
        if self.reads > _MOST_READS:
            return b""
        return self._file.read(min(size, _MOST_BYTES) if size >= 0 else _MOST_BYTES)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def close(self) -> None:
        self._file.close()


def picture_size(path: Path) -> tuple[int, int] | None:
    """Return width and height in pixels; ``None`` for what is no picture.

    A header without an end is as large as can be.
    """
    import imagesize  # takes a moment to load, and is wanted on a thread of ours alone

    file = _BoundedReader(path)
    try:
        width, height = imagesize.get(file, exif_rotation=False)
    finally:
        file.close()
    if file.reads > _MOST_READS:
        return _NEVER_SAID, _NEVER_SAID
    if (width, height) == (-1, -1):
        return None
    return _unsigned(width), _unsigned(height)


def _unsigned(side: float) -> int:
    """Return a side that was read as a signed number of 16 bits, as a GIF's is."""
    return int(side) % 65536 if side < 0 else int(side)
