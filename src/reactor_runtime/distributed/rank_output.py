"""RankOutput: what a rank writes to its pipes, line by line into the log, within bounds."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reactor_runtime.distributed.rank_log import write_again
from reactor_runtime.distributed.readiness import is_readable
from reactor_runtime.log import get_logger

log = get_logger("rank")

_READ: Final = 256 << 10
_LONGEST_LINE: Final = 64 << 10  # bytes; a longer line is cut
_LONGEST_RECORD: Final = 1 << 20  # bytes of a structured line: a long traceback is one
_BURST: Final = 12_000  # lines of one pipe that may come at once
_LINE_UNIT: Final = 4 << 10  # bytes of a long line that count as one line more
_LINES_PER_S: Final = 1_000
_LAST_LINES: Final = 20
_LAST_READS: Final = 64


class RankOutput:
    """One pipe of one rank.

    Args:
        rank: Whose.
        descriptor: The end to read from; closed by ``close``.
        name: ``stdout``, ``stderr``, or ``log`` for structured lines.
        fields: Returns fields for every line, for instance the session.
        now: Returns monotonic seconds.
    """

    def __init__(
        self,
        rank: int,
        descriptor: int,
        name: str,
        fields: Callable[[], Mapping[str, Any]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rank, self._descriptor, self._name = rank, descriptor, name
        self._fields = fields
        self._reading = threading.Lock()
        self._rest = b""
        self._budget = _LineBudget(now)
        self._dropped = 0
        self._tail: deque[str] = deque(maxlen=_LAST_LINES)

    def fileno(self) -> int:
        """Return the pipe's number, to wait on; not blocking."""
        return self._descriptor

    def last_words(self) -> str:
        """Return the last lines."""
        return "\n".join(self._tail)

    def drain(self) -> bool:
        """Log what is there; ``False`` once the pipe has ended. Any thread may call it."""
        with self._reading:
            if self._descriptor < 0:
                return False
            try:
                found = os.read(self._descriptor, _READ)
            except BlockingIOError:
                return True
            if not found:
                self._finish()
                return False
            self._accept(found)
        return True

    def drain_rest(self) -> None:
        """Log what is left in the pipe, up to a bound, without waiting for more."""
        for _ in range(_LAST_READS):
            file = self._descriptor
            if file < 0 or not is_readable(file, 0.0) or not self.drain():
                return

    def close(self) -> None:
        """Close the pipe. Idempotent."""
        with self._reading:
            if self._descriptor >= 0:
                self._finish()
                os.close(self._descriptor)
                self._descriptor = -1

    @property
    def _longest(self) -> int:
        return _LONGEST_RECORD if self._name == "log" else _LONGEST_LINE

    def _accept(self, found: bytes) -> None:
        whole, separator, rest = (self._rest + found).rpartition(b"\n")
        longest = self._longest
        if len(rest) > longest:
            whole, separator, rest = whole + separator + rest[:longest], b"\n", b""
            self._dropped += 1
        self._rest = rest
        if separator:
            self._take(whole)

    def _take(self, whole: bytes) -> None:
        budget = self._budget.lines()
        lines = whole.split(b"\n", budget + 1)
        if len(lines) > budget:
            kept, rest = lines[:budget], lines[budget:]
            self._dropped += sum(part.count(b"\n") + 1 for part in rest)
        else:
            kept = lines
            self._report_dropped()
        self._budget.spend(kept)
        for line in kept:
            self._write(line[: self._longest])

    def _write(self, line: bytes) -> None:
        extra = {"rank": self._rank, **self._fields()}
        if self._name == "log" and write_again(line, extra):
            return
        text = line.decode("utf-8", "backslashreplace").rstrip("\r")
        if not text.strip():
            return
        if self._name == "stderr":
            self._tail.append(text)
        log.info("rank_output", stream=self._name, text=text, **extra)

    def _finish(self) -> None:
        if self._rest:
            rest, self._rest = self._rest, b""
            self._take(rest)
        self._report_dropped()

    def _report_dropped(self) -> None:
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            extra = {"rank": self._rank, **self._fields()}
            log.warning("rank_output_dropped", stream=self._name, lines=dropped, **extra)


class _LineBudget:
    """How many lines may be logged now: a burst, and so many a second."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._left, self._counted = float(_BURST), now()

    def lines(self) -> int:
        now = self._now()
        gained = (now - self._counted) * _LINES_PER_S
        self._left, self._counted = min(_BURST, self._left + gained), now
        return max(0, int(self._left))

    def spend(self, lines: Sequence[bytes]) -> None:
        self._left -= sum(1 + len(line) // _LINE_UNIT for line in lines)
