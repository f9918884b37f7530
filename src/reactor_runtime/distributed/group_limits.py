"""GroupLimits: how long a worker group waits for what."""

from dataclasses import dataclass
from typing import Final

LEAVE_S: Final = 5.0  # seconds, where ranks may settle for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    """Seconds; 0 takes a bound away.

    Attributes:
        load_s: From the start to the end of ``warmup``.
        first_turn_s: The first chunk after a start (compilation).
        turn_s: Every other call.
        settle_s: From the first rank's failure in ``start_session`` to the last rank's answer, and
            for ranks to leave at the end.
        comm_s: A collective; ``None`` for the longest of loading and the turns, and half a minute,
            so that the bounds above, which name the culprit, come first.
    """

    load_s: float = 1800.0
    first_turn_s: float = 600.0
    turn_s: float = 60.0
    settle_s: float = 5.0
    comm_s: float | None = None

    @property
    def collective_s(self) -> float:
        """Seconds a collective may wait; 0 for no bound."""
        if self.comm_s is not None:
            return self.comm_s
        longest = (self.load_s, self.first_turn_s, self.turn_s)
        return 0.0 if 0 in longest else max(longest) + 30.0

    @property
    def leave_s(self) -> float:
        """Seconds healthy ranks have to leave: the end of a group is bounded in any case."""
        return self.settle_s or LEAVE_S
