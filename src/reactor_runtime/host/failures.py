"""Failures: telling, once, that a session failed, and whether it was the last one."""

import os
import re
import sysconfig
import traceback
from pathlib import Path, PurePath
from typing import Protocol

from reactor_runtime.host.failure_policy import FailurePolicy
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, HostOutlet
from reactor_runtime.log import get_logger
from reactor_runtime.redaction import scrub

_LONGEST = 300  # characters of an exception's text in one line
_FRAME = re.compile(r'^\s*File "(.+)", line (\d+)', re.MULTILINE)
_NOT_THE_AUTHORS = (
    f"{Path(__file__).parents[1]}{os.sep}",
    sysconfig.get_path("stdlib"),
    "site-packages",
    "dist-packages",
)

log = get_logger(__name__)


class Failures(Protocol):
    """Where a session's life reports what broke it."""

    def tell(self, kind: FailureKind, session_id: str | None, error: BaseException) -> bool:
        """Report a failure; returns whether no further session may be served."""
        ...

    def session_went_well(self) -> None:
        """Note a session that ended without a failure."""
        ...


class ToldFailures:
    """Logs a failure and tells the outlet.

    Args:
        outlet: Who is told.
        policy: Says which failure is the last.
    """

    def __init__(self, outlet: HostOutlet, policy: FailurePolicy) -> None:
        self._outlet, self._policy = outlet, policy

    def tell(self, kind: FailureKind, session_id: str | None, error: BaseException) -> bool:
        """Log *error* with its traceback, and tell the outlet its type."""
        verdict = self._policy.verdict(error) if kind is FailureKind.STEP else ""
        log.error(f"{kind}_failed", exc_info=error, session=session_id, fatal=bool(verdict))
        self._outlet.failed(
            HostFailure(
                kind=kind,
                session_id=session_id,
                message=type(error).__name__,
                fatal=bool(verdict),
                cause=f"{verdict}: {in_one_line(error)}" if verdict else in_one_line(error),
            )
        )
        return bool(verdict)

    def session_went_well(self) -> None:
        """Forget earlier failures."""
        self._policy.session_went_well()


def in_one_line(error: BaseException) -> str:
    """Return *error* as ``ValueError: boom (flow.py:22)``: type, text, and the author's line.

    The line is the innermost one of a file that is neither ours nor a library's; an exception of a
    rank has its traceback in a note.
    """
    try:
        head = _printable(" ".join(traceback.format_exception_only(error)[0].split()))
    except BaseException:  # noqa: BLE001 - an author's exception may do anything when it is shown
        return type(error).__name__
    return head + authors_line(error)


def authors_line(error: BaseException) -> str:
    """Return where the author's code raised *error*, as `` (flow.py:22)``; "" where it did not."""
    try:
        where = _FRAME.findall("".join(traceback.format_exception(error)))
    except BaseException:  # noqa: BLE001 - an author's exception may do anything when it is shown
        return ""
    authors = [each for each in where if _is_authors(each[0])]
    return f" ({PurePath(authors[-1][0]).name}:{authors[-1][1]})" if authors else ""


def _is_authors(file: str) -> bool:
    is_generated = file.startswith("<")  # a dataclass's __init__ is in "<string>"
    return not is_generated and not any(part in file for part in _NOT_THE_AUTHORS)


def _printable(text: str) -> str:
    text = "".join(each if each.isprintable() else "?" for each in scrub(text))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
