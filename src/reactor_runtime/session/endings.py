"""Endings: how the last session ended, for clients who were not there to hear it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How one session ended.

    Attributes:
        number: Which one: the server's sessions count from 1.
        reason: What its clients read as the reason.
        detail: What they were told before that, empty when nothing.
    """

    number: int
    reason: str
    detail: str = ""

    def describe(self) -> dict[str, Any]:
        """Return it as clients read it."""
        return {"session_number": self.number, "reason": self.reason, "detail": self.detail}


class Endings:
    """Counts the sessions of a server, and remembers the last ending.

    Where a lost group of ranks is replaced, its session object is too, and the count goes on.

    Attributes:
        begun: How many sessions were started.
        last: How the newest one that is over ended.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.last: Ending | None = None

    def follow(self, earlier: "Endings") -> None:
        """Count on from *earlier*."""
        self.begun, self.last = earlier.begun, earlier.last

    def begin(self) -> None:
        """Count a session that starts."""
        self.begun += 1

    def note(self, reason: str, detail: str = "") -> None:
        """Remember how the newest session ended."""
        self.last = Ending(number=self.begun, reason=reason, detail=detail)

    @property
    def of_newest(self) -> Ending | None:
        """How the newest session ended, ``None`` while it runs."""
        is_newest = self.last is not None and self.last.number == self.begun
        return self.last if is_newest else None
