"""RankReports: what a rank's model does, noted for the host. Implements ``HostOutlet`` there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reactor_runtime.distributed.failure_report import describe_failure
from reactor_runtime.host.host_outlet import CommandReply, FailureKind, OutboundMessage, StepReport
from reactor_runtime.host.rank_messages import (
    AuthorFailed,
    FramesUnread,
    Paced,
    Report,
    Said,
    SessionClosed,
    SessionFailed,
    SessionOpened,
    SessionWentWell,
)
from reactor_runtime.host.silent_host_outlet import SilentHostOutlet


class RankReports(SilentHostOutlet):
    """Notes what one verb came to. Messages and the rate travel as they are made.

    Args:
        post: Says something to the group at once, from any thread.
        is_leader: Whether what this rank says counts.
    """

    def __init__(self, post: Callable[[object], None], *, is_leader: bool) -> None:
        self._post, self._is_leader = post, is_leader
        self._reports: list[Report] = []
        self._signature: list[Any] = []

    def take(self) -> tuple[tuple[Any, ...], tuple[Report, ...]]:
        """Return, and forget, what ranks must have in common, and what the leader tells.

        Of another rank only what failed is returned: it is told if the ranks differ.
        """
        signature, reports = tuple(self._signature), tuple(self._reports)
        self._signature.clear()
        self._reports.clear()
        return signature, reports if self._is_leader else failures_in(reports)

    def log_failure(self, event: str, error: BaseException, fields: Mapping[str, Any]) -> None:
        """Note an exception that the host logs."""
        told = describe_failure(error, event)
        self._note(
            AuthorFailed(event=event, fields=dict(fields), error=told), event, type(error).__name__
        )

    def session_failed(
        self, kind: FailureKind, session_id: str | None, error: BaseException
    ) -> None:
        """Note an exception that ends the session."""
        told = describe_failure(error, kind)
        self._note(
            SessionFailed(kind=kind, session_id=session_id, error=told), kind, type(error).__name__
        )

    def session_went_well(self) -> None:
        """Note that nothing failed."""
        self._note(SessionWentWell(), "well")

    # --- HostOutlet ---

    def unread(self, track: str, frames: int, reason: str) -> None:
        """Note frames that the model will never see."""
        self._reports.append(FramesUnread(track, frames, reason))

    def message(self, message: OutboundMessage) -> None:
        """Pass on the leader's."""
        if self._is_leader:
            self._post(Said(message))

    def set_fps(self, fps: float) -> None:
        """Pass on the leader's rate."""
        if self._is_leader:
            self._post(Paced(fps))

    def reply(self, reply: CommandReply) -> None:
        """Note the answer to one command."""
        self._note(reply, reply.call_id, reply.error_code or "ok")

    def step_done(self, report: StepReport) -> None:
        """Note a step that the author reports by hand, outside a turn; the leader's counts."""
        files = {name: bytes(content) for name, content in report.files.items()}
        self._reports.append(replace(report, files=files))

    def session_opened(self, session_id: str) -> None:
        """Note it."""
        self._note(SessionOpened(session_id), "opened", session_id)

    def session_closed(self, session_id: str) -> None:
        """Note it."""
        self._note(SessionClosed(session_id), "closed", session_id)

    def _note(self, report: Report, *common: Any) -> None:
        self._reports.append(report)
        self._signature.append(common)


def failures_in(reports: Sequence[Report]) -> tuple[AuthorFailed | SessionFailed, ...]:
    """Return what author code raised."""
    return tuple(each for each in reports if isinstance(each, AuthorFailed | SessionFailed))


class RankFailures:
    """Implements ``Failures`` on a rank: the host decides what is fatal."""

    def __init__(self, reports: RankReports) -> None:
        self._reports = reports

    def tell(self, kind: FailureKind, session_id: str | None, error: BaseException) -> bool:
        """Note it."""
        self._reports.session_failed(kind, session_id, error)
        return False

    def session_went_well(self) -> None:
        """Note it."""
        self._reports.session_went_well()
