"""Logging: one format for our lines, authors' lines, stdlib ``logging`` and libraries.

``get_logger`` costs nothing at import: structlog loads with the first line that is written.
Lines travel through stdlib ``logging``; ``configure`` installs the one handler, and until it is
called (an author's own tests) they go wherever ``logging`` sends them.
"""

import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from reactor_runtime.structlog_import import import_structlog

if TYPE_CHECKING:
    from reactor_runtime.log_line import LineFormatter


class LogFormat(StrEnum):
    """How a line looks."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least important lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


# Libraries that speak of every packet or request: what they may say at most.
_ALWAYS_QUIET = ("aiortc.rtcrtpsender", "aiortc.rtcrtpreceiver", "aiortc.rtcsctptransport")
_QUIET_UNLESS_DEBUG = ("aioice", "uvicorn", "uvicorn.access", "uvicorn.error", "asyncio")


class Logger:
    """Writes events: a constant name and facts as fields, ``log.info("started", rank=2)``.

    Positional arguments are %-formatted into the event, as stdlib ``logging`` does.
    """

    def __init__(self, name: str, fields: Mapping[str, Any] | None = None) -> None:
        self._name = name
        self._bound = dict(fields or {})

    def __repr__(self) -> str:
        return f"Logger({self._name!r}, {sorted(self._bound)})"

    def bind(self, **fields: Any) -> "Logger":
        """Return a logger that adds *fields* to every line."""
        return Logger(self._name, {**self._bound, **fields})

    def unbind(self, *names: str) -> "Logger":
        """Return a logger without the bound fields *names*."""
        return Logger(self._name, {k: v for k, v in self._bound.items() if k not in names})

    def debug(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line for somebody who looks for a fault."""
        self._write(logging.DEBUG, event, args, fields)

    def info(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line for an operator."""
        self._write(logging.INFO, event, args, fields)

    def warning(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line about something that should be looked at."""
        self._write(logging.WARNING, event, args, fields)

    warn = warning

    def error(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line about a failure."""
        self._write(logging.ERROR, event, args, fields)

    def critical(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line about a failure that ends the process."""
        self._write(logging.CRITICAL, event, args, fields)

    fatal = critical

    def exception(self, event: object, /, *args: Any, **fields: Any) -> None:
        """Write an error line with the traceback of the exception being handled."""
        self._write(logging.ERROR, event, args, {"exc_info": True, **fields})

    def log(self, level: int, event: object, /, *args: Any, **fields: Any) -> None:
        """Write a line at a numeric stdlib level."""
        self._write(level, event, args, fields)

    def is_enabled_for(self, level: int) -> bool:
        """Return whether a line at this numeric level would be written."""
        return logging.getLogger(self._name).isEnabledFor(level)

    isEnabledFor = is_enabled_for  # noqa: N815 - stdlib's name, which authors know

    def _write(
        self, level: int, event: object, args: tuple[Any, ...], fields: dict[str, Any]
    ) -> None:
        target = logging.getLogger(self._name)
        if not target.isEnabledFor(level):
            return
        import structlog

        exc_info = fields.pop("exc_info", None)
        stack_info = bool(fields.pop("stack_info", False))
        fields = {**structlog.contextvars.get_contextvars(), **self._bound, **fields}
        _emit(target, level, _formatted(event, args), fields, exc_info=exc_info, stack=stack_info)


def get_logger(name: str | None = None, **fields: Any) -> Logger:
    """Return the logger called *name*, with *fields* bound."""
    return Logger(name or "reactor", fields)


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Add *fields* to every line written inside, foreign ones included.

    Context travels with tasks, not with threads: a thread binds its own.
    """
    import structlog

    with structlog.contextvars.bound_contextvars(**fields):
        yield


def bind(**fields: Any) -> None:
    """Add *fields* to every line this task writes from now on; ``None`` takes one away."""
    import structlog

    structlog.contextvars.unbind_contextvars(*(k for k, v in fields.items() if v is None))
    structlog.contextvars.bind_contextvars(**{k: v for k, v in fields.items() if v is not None})


def mark(**fields: Any) -> None:
    """Add *fields* to every line of this process from now on, foreign ones included.

    ``None`` takes one away. A line's own fields win. Does nothing before ``configure``.
    """
    for handler in logging.getLogger().handlers:
        if isinstance(handler, _LineStream):
            handler.mark(fields)


def configure(
    log_format: LogFormat | str = LogFormat.TEXT,
    level: LogLevel | str = LogLevel.INFO,
    *,
    stream: TextIO | None = None,
    fields: Mapping[str, Any] | None = None,
    adopts_structlog: bool = True,
) -> None:
    """Send every line of this process to *stream* in one format. May be called again.

    Warnings and uncaught exceptions, of threads too, become one record each.

    Args:
        log_format: ``text`` (columns, coloured on a terminal) or ``json`` (an object per line).
        level: The least important lines that are written.
        stream: Where to; standard error unless given.
        fields: Fields of every line, for instance ``{"rank": 1}``.
        adopts_structlog: Whether authors' own structlog writes here from now on; else
            ``adopt_structlog`` is for later, and structlog loads with the first line.

    Raises:
        ValueError: *log_format* or *level* is not one of the known words.
    """
    as_json = LogFormat(log_format) is LogFormat.JSON
    handler = _LineStream(stream if stream is not None else sys.stderr, as_json, fields or {})
    _install(handler, logging.getLevelNamesMapping()[LogLevel(level).upper()])
    if adopts_structlog:
        adopt_structlog()
    _report_uncaught()


class _LineStream(logging.StreamHandler[TextIO]):
    """Our one way out; its type tells it from those that others installed."""

    def __init__(self, stream: TextIO, as_json: bool, fields: Mapping[str, Any]) -> None:
        super().__init__(stream)
        self._as_json, self._fields = as_json, fields
        self._lines: LineFormatter | None = None

    def mark(self, fields: Mapping[str, Any]) -> None:
        """Add *fields* to every line from now on; those that are ``None`` are taken away."""
        self.acquire()  # as for a line, which may be making the formatter on another thread
        try:
            both = {**self._fields, **fields}
            self._fields = {name: value for name, value in both.items() if value is not None}
            self._lines = None
        finally:
            self.release()

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        return self._formatter().format(record)

    def _formatter(self) -> "LineFormatter":
        """Return the formatter, made for the first line: it loads structlog."""
        if self._lines is None:
            from reactor_runtime.log_line import LineFormatter

            no_colour = bool(os.environ.get("NO_COLOR"))
            self._lines = LineFormatter.for_stream(
                self.stream, as_json=self._as_json, no_colour=no_colour, fields=self._fields
            )
        return self._lines

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - stdlib's name
        """Drop a line that cannot be written: the stream is closed or its reader is gone."""


def _install(handler: logging.Handler, level: int) -> None:
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old, _LineStream):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET_UNLESS_DEBUG:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.NOTSET if level <= logging.DEBUG else logging.WARNING)
    for name in _ALWAYS_QUIET:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.captureWarnings(True)
    warnings_log = logging.getLogger("py.warnings")
    warnings_log.handlers.clear()
    warnings_log.propagate = True
    warnings.formatwarning = _warning_text


def _warning_text(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Format a warning as one line, without its source."""
    return f"{category.__name__}: {message} ({filename}:{lineno})"


def adopt_structlog() -> None:
    """Let authors' own ``structlog.get_logger()`` write the same lines."""
    import_structlog()
    import structlog

    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.PositionalArgumentsFormatter(),
            _hand_to_logging,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _hand_to_logging(
    logger: logging.Logger, method: str, event_dict: Any
) -> tuple[tuple[str], dict[str, Any]]:
    """Turn structlog's event into the arguments of stdlib's method of the same name."""
    exc_info = event_dict.pop("exc_info", None)
    stack = bool(event_dict.pop("stack_info", False))
    event = _formatted(event_dict.pop("event", ""), ())
    text, options = _record_arguments(logger.name, event, event_dict, exc_info, stack)
    return (text,), options


def _emit(
    target: logging.Logger,
    level: int,
    event: str,
    fields: dict[str, Any],
    *,
    exc_info: Any,
    stack: bool,
) -> None:
    text, options = _record_arguments(target.name, event, fields, exc_info, stack)
    target.log(level, text, stacklevel=4, **options)


def _record_arguments(
    logger: str, event: str, fields: Mapping[str, Any], exc_info: Any, stack: bool
) -> tuple[str, dict[str, Any]]:
    """Return a record's message and options; the message alone reads well without our handler."""
    from reactor_runtime.log_line import EVENT, FIELDS, as_fields

    clean = as_fields(fields, logger)
    text = " ".join([event, *(f"{name}={value!r}" for name, value in clean.items())])
    has_error = exc_info if isinstance(exc_info, BaseException | tuple) else bool(exc_info)
    if has_error is True and sys.exc_info()[0] is None:
        has_error = False
    extra = {EVENT: event, FIELDS: clean}
    return text, {"extra": extra, "exc_info": has_error or None, "stack_info": stack}


def _formatted(event: object, args: tuple[Any, ...]) -> str:
    """Return *event* with *args* formatted in; a bad format string loses nothing."""
    from reactor_runtime.redaction import scrub

    text = str(event)
    if args:
        try:
            text = text % args
        except (TypeError, ValueError, KeyError):
            text = " ".join([text, *map(repr, args)])
    return scrub(text)


def _report_uncaught() -> None:
    """Write one record for each exception that nobody caught, instead of a bare traceback."""
    log = get_logger("reactor_runtime.process")

    def process_hook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("uncaught_exception", exc_info=(kind, error, trace))

    def thread_hook(hook: threading.ExceptHookArgs) -> None:
        if hook.exc_value is None or issubclass(hook.exc_type, SystemExit):
            return
        name = hook.thread.name if hook.thread else "?"
        trace = (hook.exc_type, hook.exc_value, hook.exc_traceback)
        log.error("thread_failed", thread=name, exc_info=trace)

    def unraisable_hook(hook: "sys.UnraisableHookArgs") -> None:
        if hook.exc_value is not None:
            where = f"{hook.err_msg or 'ignored'}: {type(hook.object).__name__}"
            trace = (hook.exc_type, hook.exc_value, hook.exc_traceback)
            log.error("unraisable_exception", where=where, exc_info=trace)

    sys.excepthook = process_hook
    threading.excepthook = thread_hook
    sys.unraisablehook = unraisable_hook
