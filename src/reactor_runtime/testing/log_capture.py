"""LogCapture: the newest log lines, and the exceptions in them, while a model is under test."""

import logging
from collections import deque
from typing import Self

_KEPT = 200


class LogCapture(logging.Handler):
    """Keeps what is logged inside ``with``, at the levels in force.

    Attributes:
        error: The exception of the newest record that has one.
        errors: How many records had one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        self.error: BaseException | None = None
        self.errors = 0
        self._lines: deque[str] = deque(maxlen=_KEPT)

    def text(self) -> str:
        """Return the newest records, tracebacks included."""
        return "\n".join(tuple(self._lines))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep *record*."""
        self._lines.append(self.format(record))
        if record.exc_info and record.exc_info[1] is not None:
            self.error = record.exc_info[1]
            self.errors += 1

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
