"""RankReportTeller: what the ranks report, told to the outlet as a host in process would."""

from collections.abc import Sequence
from dataclasses import replace

from reactor_runtime.distributed.failure_report import original_of
from reactor_runtime.distributed.messages import Failure
from reactor_runtime.errors import WorkerError
from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.failures import Failures
from reactor_runtime.host.host_outlet import CommandReply, FailureKind, HostOutlet, StepReport
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.model_driver import log_at_once
from reactor_runtime.host.occupancy import Occupancy
from reactor_runtime.host.outcome import overtake
from reactor_runtime.host.rank_messages import (
    AuthorFailed,
    FramesUnread,
    Report,
    SessionClosed,
    SessionFailed,
    SessionOpened,
    SessionWentWell,
)


class RankReportTeller:
    """Used on the pump's thread.

    Args:
        outlet: Who is told.
        queue: Who awaits an answer.
        gate: Learns that a session is over.
        failures: Tells failures.

    Attributes:
        is_over: A failure was fatal: no further session is served.
    """

    def __init__(
        self, outlet: HostOutlet, queue: EventQueue, gate: Gate, failures: Failures
    ) -> None:
        self.is_over = False
        self._outlet, self._queue, self._gate, self._failures = outlet, queue, gate, failures

    def tell(self, report: Report) -> None:
        """Tell one."""
        match report:
            case CommandReply():
                if self._queue.settle(report.call_id):
                    self._outlet.reply(report)
            case AuthorFailed():
                log_at_once(report.event, restored(report.error), report.fields)
            case SessionFailed():
                self.fail(report.kind, report.session_id, restored(report.error))
            case FramesUnread():
                self._outlet.unread(report.track, report.frames, report.reason)
            case StepReport():
                self._record(report)
            case _:
                self._tell_of_session(report)

    def _tell_of_session(self, report: SessionWentWell | SessionOpened | SessionClosed) -> None:
        match report:
            case SessionWentWell():
                self._failures.session_went_well()
            case SessionOpened():
                self._outlet.session_opened(report.session_id)
            case SessionClosed():
                self.close(report.session_id)

    def _record(self, report: StepReport) -> None:
        """Tell a step of the author's own as the session's next: the host alone counts."""
        session = self._gate.session
        if session is not None:
            number, session.next_step = session.next_step, session.next_step + 1
            counted = replace(report, number=number, is_last=session.count_step())
            self._outlet.step_done(counted)

    def fail(self, kind: FailureKind, session_id: str | None, error: BaseException) -> None:
        """Tell a failure that the host itself has noticed."""
        self.is_over = self._failures.tell(kind, session_id, error) or self.is_over

    def close(self, session_id: str) -> None:
        """Tell that a session is over, its unanswered commands first if it is the last one."""
        session = self._gate.session
        if session is not None and session.session_id == session_id:
            self._gate.session, self._gate.occupancy = None, Occupancy()
        if self.is_over:
            overtake(self._queue, self._outlet, "failed")
        self._outlet.session_closed(session_id)


def restored(failure: Failure) -> BaseException:
    """Return a rank's exception, with its traceback as a note."""
    error = original_of(failure)
    error.add_note(failure.traceback.rstrip())
    return error


def told_cause(error: WorkerError) -> BaseException:
    """Return what the author's code raised on a rank, with its traceback as a note."""
    cause = error.__cause__ or error
    cause.add_note(f"on {named(error.ranks)}:\n{error.traceback.rstrip()}")
    return cause


def named(ranks: Sequence[int]) -> str:
    """Return ranks in words: ``rank 1``, ``ranks 0, 2``."""
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, ranks))}"
