"""HostSettings: the deadlines of a host, and what it does after a failed step."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

IDLE_PAUSE_S: Final = 0.005  # how long a model with nothing to show is left alone


class OnFailure(StrEnum):
    """What follows a session that a step ended."""

    KEEP = "keep"  # the next session runs on the same object
    EXIT = "exit"  # the process ends with status 1
    RESTART = "restart"  # a new host is made; whoever made this one does it


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Deadlines in seconds (0 disables one) and the rule after a failure.

    Attributes:
        turn_timeout_s: One half of a turn: what is applied, or the step after it.
        first_turn_timeout_s: The same, until the first step is through (compilation).
        stop_timeout_s: How long ``stop`` waits for a running turn before it gives the thread up.
        on_failure: Every choice but ``KEEP`` makes a failed step fatal to the host.
    """

    turn_timeout_s: float = 60.0
    first_turn_timeout_s: float = 600.0
    stop_timeout_s: float = 5.0
    on_failure: OnFailure = OnFailure.KEEP
