"""Turn: one lockstep step, as an author's loop sees it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One lockstep step, the same on every rank.

    Attributes:
        number: Steps since the session started, from 0; a refused one takes no number.
        time_s: Monotonic seconds since the session started, stamped once by the host.
    """

    number: int
    time_s: float
