"""A rank's log lines on their way to the parent, and out of the parent's log.

A rank writes one JSON object a line into a pipe; the parent writes it again in its own format,
with the rank, and whatever fields the group was given, added.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TextIO

from reactor_runtime.log import LogFormat, LogLevel, adopt_structlog, configure

_COLUMNS = frozenset({"timestamp", "level", "logger", "event"})
_LONG = frozenset({"exception", "stack"})


def write_log_to(stream: TextIO, level: str) -> None:
    """Send every log line of this process, the author's included, to *stream*."""
    configure(LogFormat.JSON, LogLevel(level), stream=stream, adopts_structlog=False)


def adopt_what_is_loaded() -> bool:
    """Let the author's structlog write as we do, if it is loaded; return whether it is."""
    if "structlog" not in sys.modules:
        return False
    adopt_structlog()
    return True


def wanted_level() -> str:
    """Return the least important level that this process' log may want: its own may change."""
    level = min(logging.getLogger().getEffectiveLevel(), logging.INFO)
    return logging.getLevelName(max(level, logging.DEBUG)).lower()


def write_again(line: bytes, extra: Mapping[str, Any]) -> bool:
    """Log a line that a rank wrote, with *extra* fields; ``False`` when it is no such line."""
    from reactor_runtime.log_line import EVENT, FIELDS

    try:
        entry = json.loads(line)
        level = logging.getLevelNamesMapping()[entry["level"].upper()]
        name, event = entry["logger"], entry["event"]
        created = datetime.fromisoformat(entry["timestamp"]).timestamp()
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    target = logging.getLogger(name)
    if target.isEnabledFor(level):
        fields = {key: value for key, value in entry.items() if key not in _COLUMNS}
        shown = (f"{key}={value!r}" for key, value in fields.items() if key not in _LONG)
        text = " ".join([event, *shown])  # reads well without our formatter
        record = target.makeRecord(name, level, "", 0, text, (), None)
        record.created = created
        setattr(record, EVENT, event)
        setattr(record, FIELDS, {**fields, **extra})
        target.handle(record)
    return True
