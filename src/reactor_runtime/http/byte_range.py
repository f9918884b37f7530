"""Which bytes of a file a request asks for (RFC 9110, section 14). Pure."""

import re

_BYTES = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


def read_range(header: str | None, total: int) -> range | None:
    """Return the bytes of a file of *total* bytes that a ``Range`` header asks for.

    Returns:
        ``None`` where there is no header, or one to ignore: what is not understood, several ranges
        included. An empty range where nothing of what it asks for is there.
    """
    found = _BYTES.fullmatch(header or "")
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        return range(max(0, total - int(found[2])), total)
    first, stop = int(found[1]), int(found[2]) + 1 if found[2] else total
    if found[2] and stop <= first:
        return None
    return range(first, min(stop, total))
