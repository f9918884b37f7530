"""LogScreen: what of a job's lines a person who follows it sees.

When a rank fails, torchrun reports on every node, at length, what the job's result says in a line.
"""

import re
from collections import deque

_OF_TORCHRUN = re.compile(rb"\[\S+ node\d+ torchrun\] ")
_MOST_HELD = 100  # lines


class LogScreen:
    """Passes on the lines of ranks and holds torchrun's own back, the last of them.

    Attributes:
        held: Lines of torchrun's that were not passed on.
    """

    def __init__(self, *, shows_all: bool = False) -> None:
        self._shows_all = shows_all
        self.held: deque[bytes] = deque(maxlen=_MOST_HELD)

    def pass_on(self, lines: bytes) -> bytes:
        """Return those of *lines*, whole tagged ones, that are to be seen."""
        if self._shows_all:
            return lines
        seen: list[bytes] = []
        for line in lines.split(b"\n")[:-1]:
            (self.held if _OF_TORCHRUN.match(line) else seen).append(line + b"\n")
        return b"".join(seen)
