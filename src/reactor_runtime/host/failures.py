"""Failures: telling, once, that a session failed, and whether it was the last one."""

from typing import Protocol

from reactor_runtime.host.failure_policy import FailurePolicy
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, HostOutlet
from reactor_runtime.log import get_logger

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
        fatal = kind is FailureKind.STEP and self._policy.is_fatal(error)
        log.error(f"{kind}_failed", exc_info=error, session=session_id, fatal=fatal)
        self._outlet.failed(
            HostFailure(kind=kind, session_id=session_id, message=type(error).__name__, fatal=fatal)
        )
        return fatal

    def session_went_well(self) -> None:
        """Forget earlier failures."""
        self._policy.session_went_well()
