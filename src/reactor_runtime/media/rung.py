"""Rung: one of the qualities a video track is encoded in, each only while somebody needs it.

| rung | width and height | bits per second |
|---|---|---|
| top | as emitted | as configured |
| low | half | a quarter |
"""

from enum import StrEnum
from typing import Self


class Rung(StrEnum):
    """From the best down. Every viewer begins on the top; a link that cannot carry it goes lower.

    Attributes:
        bitrate_share: Of the top's bitrate.
        side_share: Of the emitted width and height.
    """

    bitrate_share: float
    side_share: float

    def __new__(cls, name: str, bitrate_share: float, side_share: float) -> Self:
        """Make a member that is its name and knows what it costs."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.bitrate_share, member.side_share = bitrate_share, side_share
        return member

    TOP = "top", 1.0, 1.0
    LOW = "low", 0.25, 0.5

    @property
    def below(self) -> "Rung":
        """The next rung down; the lowest has none and returns itself."""
        rungs = list(Rung)
        return rungs[min(rungs.index(self) + 1, len(rungs) - 1)]

    @property
    def above(self) -> "Rung":
        """The next rung up; the top has none and returns itself."""
        rungs = list(Rung)
        return rungs[max(rungs.index(self) - 1, 0)]
