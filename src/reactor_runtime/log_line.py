"""LineFormatter: the one format of every record, ours or foreign, as text or JSON."""

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import structlog

from reactor_runtime.redaction import clean, clean_fields, scrub

EVENT = "reactor_event"  # LogRecord attributes that our own loggers set
FIELDS = "reactor_fields"

_MAX_TRACEBACK = 64_000  # characters
_TRACEBACK = "Traceback (most recent call last):"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_RESERVED = frozenset({"timestamp", "level", "logger", "event", "exception", "stack"})


def as_fields(fields: Mapping[str, Any], logger: str) -> dict[str, Any]:
    """Return *fields* printable, under names that no fixed column uses."""
    named = {f"{name}_" if name in _RESERVED else name: value for name, value in fields.items()}
    return clean_fields(named, hide_bulk=logger.split(".")[0] == "reactor_runtime")


def one_line(text: str) -> str:
    """Return *text* with control characters escaped, so that a record stays one line."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _block(stacks: Any) -> str:
    """Return stacks, by thread or rank, as lines."""
    if not isinstance(stacks, Mapping):
        return str(stacks)
    return "\n".join(f"{name}:\n{text}" for name, text in stacks.items())


class LineFormatter(logging.Formatter):
    """Formats records of our loggers, of stdlib ``logging`` and of libraries alike.

    Args:
        as_json: One JSON object per record; else columns of text.
        colours: Colour the columns (a terminal).
        fields: Fields of every line, for instance the rank of the process.
    """

    def __init__(self, *, as_json: bool, colours: bool, fields: Mapping[str, Any]) -> None:
        super().__init__()
        self._as_json = as_json
        self._fields = dict(fields)
        self._console = structlog.dev.ConsoleRenderer(
            colors=colours,
            sort_keys=False,
            exception_formatter=structlog.dev.plain_traceback,
        )

    @classmethod
    def for_stream(
        cls, stream: TextIO, *, as_json: bool, no_colour: bool, fields: Mapping[str, Any]
    ) -> "LineFormatter":
        """Return the formatter that suits *stream*: colours only on a terminal."""
        is_terminal = hasattr(stream, "isatty") and stream.isatty()
        return cls(as_json=as_json, colours=is_terminal and not no_colour, fields=fields)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text; a record that cannot be formatted says so."""
        try:
            entry = self._entry(record)
        except Exception as error:  # noqa: BLE001 - a foreign record may hold anything
            entry = {
                **self._head(record, "unprintable_record"),
                "reason": f"{type(error).__name__}: {clean(error)}",
            }
        if self._as_json:
            return json.dumps(entry, default=repr)
        stacks = entry.pop("stacks", None)
        flat = self._flat(entry)
        if stacks:  # many lines are read as lines, not as one with escapes in it
            flat["stack"] = _block(stacks)
        return str(self._console(None, record.levelname.lower(), flat))

    def _entry(self, record: logging.LogRecord) -> dict[str, Any]:
        own = getattr(record, FIELDS, None)
        if own is None:
            event = scrub(record.getMessage()).strip()
            own = as_fields(structlog.contextvars.get_contextvars(), record.name)
        else:
            event = getattr(record, EVENT, "")
        entry = {**self._head(record, event), **self._fields, **own}
        if record.exc_info:
            entry["exception"] = self._traceback(self._told(record.exc_info))
        if record.stack_info:
            entry["stack"] = self._traceback(self.formatStack(record.stack_info))
        return entry

    def _told(self, exc_info: Any) -> str:
        """Return an exception with its traceback, which one of a rank has in its notes."""
        error = exc_info[1]
        notes = "\n".join(getattr(error, "__notes__", None) or ())
        if error is not None and error.__traceback__ is None and _TRACEBACK in notes:
            return notes  # it ends with what would stand above it
        return self.formatException(exc_info)

    @staticmethod
    def _head(record: logging.LogRecord, event: str) -> dict[str, Any]:
        moment = datetime.fromtimestamp(record.created, UTC)
        return {
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": event,
        }

    @staticmethod
    def _traceback(text: str) -> str:
        """Scrub a traceback; of one that is too long, keep the end, where the cause is."""
        return scrub(text if len(text) <= _MAX_TRACEBACK else "…" + text[-_MAX_TRACEBACK:])

    @staticmethod
    def _flat(entry: dict[str, Any]) -> dict[str, Any]:
        """Escape what would break a line of text; tracebacks keep their lines."""
        return {
            one_line(name): one_line(value)
            if isinstance(value, str) and name not in ("exception", "stack")
            else value
            for name, value in entry.items()
        }
