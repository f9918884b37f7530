"""Deadline: until when something may take, and how long it was given."""

import time
from typing import NamedTuple


class Deadline(NamedTuple):
    """A moment.

    Attributes:
        timeout_s: The seconds that were given; 0 for ever.
        until: The moment on the monotonic clock; ``None`` for never.
    """

    timeout_s: float
    until: float | None

    @classmethod
    def after(cls, timeout_s: float) -> "Deadline":
        """Return the moment *timeout_s* seconds from now; 0 for never."""
        return cls(timeout_s, time.monotonic() + timeout_s if timeout_s else None)
