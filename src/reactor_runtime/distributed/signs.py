"""Signs: what a group sees of its ranks while it waits, and which of the bad ones is the cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from reactor_runtime.errors import ReactorError


class Heard(NamedTuple):
    """A rank said something."""

    rank: int
    message: Any


@dataclass(frozen=True, slots=True)
class Died:
    """A rank's process has ended, or closed its channel for good."""

    rank: int
    exit_code: int | None
    last_words: str


@dataclass(frozen=True, slots=True)
class Garbled:
    """A rank said something that cannot be read here."""

    rank: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Woken:
    """Another thread wants the waiting one to look up."""


Sign = Heard | Died | Garbled | Woken


class Gravity(IntEnum):
    """How likely a bad sign is the cause of the others; the lower the graver."""

    DEATH = 0
    ERROR = 1
    COLLECTIVE_ERROR = 2  # most often the echo of something that happened to another rank


@dataclass(frozen=True, slots=True)
class Trouble:
    """One bad sign.

    Attributes:
        gravity: Its kind.
        rank: Who showed it.
        error: What it is as the group's error.
    """

    gravity: Gravity
    rank: int
    error: ReactorError


def first_cause(troubles: Sequence[Trouble]) -> ReactorError:
    """Return the gravest error, the earliest of its kind; the others are notes on it.

    Args:
        troubles: At least one, in the order of arrival.
    """
    cause = min(troubles, key=lambda trouble: trouble.gravity)
    for other in troubles:
        if other is not cause:
            cause.error.add_note(f"also: {str(other.error).splitlines()[0]}")
    return cause.error
