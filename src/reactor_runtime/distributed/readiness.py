"""Waits for one open file: ``select`` knows numbers below 1024 only, and a server may have more."""

import select
from typing import Protocol


class Open(Protocol):
    """Whatever has a file's number."""

    def fileno(self) -> int:
        """Return it."""
        ...


def is_readable(file: int | Open, within_s: float) -> bool:
    """Wait until there is something to read, or the end of it, for at most *within_s* seconds."""
    return _is_ready(file, select.POLLIN, within_s)


def is_writable(file: int | Open, within_s: float) -> bool:
    """Wait until there is room to write, or nobody to read it, for at most *within_s* seconds."""
    return _is_ready(file, select.POLLOUT, within_s)


def _is_ready(file: int | Open, event: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(file, event)
    return bool(poll.poll(max(0.0, within_s) * 1e3))
