"""RollCall: one answer from every rank, or the one error that says why not."""

import time
from collections.abc import Callable
from typing import Any, Final

from reactor_runtime.distributed.crew import Crew
from reactor_runtime.distributed.deadline import Deadline
from reactor_runtime.distributed.failure_report import describe_failure, worker_error
from reactor_runtime.distributed.hang_report import stacks_of
from reactor_runtime.distributed.messages import Failure, Notice, Reached
from reactor_runtime.distributed.signs import (
    Died,
    Garbled,
    Gravity,
    Heard,
    Sign,
    Trouble,
    first_cause,
)
from reactor_runtime.distributed.verbs import OnError
from reactor_runtime.errors import (
    ReactorError,
    WorkerCrashed,
    WorkerError,
    WorkerGroupStateError,
    WorkerTimeout,
)

_LISTEN_ON_S: Final = 0.5  # seconds after the first bad sign in which a graver one may come


class CallFailed(Exception):  # noqa: N818 - never leaves the package
    """Carries the error a call ends with.

    Attributes:
        error: What the caller gets.
        is_survivable: Whether all ranks are alive and have answered.
    """

    def __init__(self, error: Exception, *, is_survivable: bool = False) -> None:
        super().__init__(error, is_survivable)
        self.error, self.is_survivable = error, is_survivable


class RollCall:
    """Waits for every rank to answer one message.

    Args:
        crew: Who is to answer; the caller must have taken the watch.
        phase: What they were asked to do.
        on_notice: Gets what ranks say beside their answers.
    """

    def __init__(self, crew: Crew, phase: str, on_notice: Callable[[int, Any], None]) -> None:
        self._crew = crew
        self._phases = {process.rank: phase for process in crew.processes}
        self._on_notice = on_notice
        self._answers: dict[int, Any] = {}
        self._troubles: list[Trouble] = []
        self._failures: dict[int, Failure] = {}
        self._is_over = False

    def collect(self, deadline: Deadline, on_error: OnError, settle_s: float) -> dict[int, Any]:
        """Return every rank's answer.

        Args:
            deadline: Until when.
            on_error: Whether to wait for the others when a rank has raised.
            settle_s: For how long then.

        Raises:
            CallFailed: A rank raised, died or was silent, or the group is to stop.
        """
        patience_s = settle_s if on_error is OnError.SETTLE else _LISTEN_ON_S
        until = deadline.until
        while not self._is_over and len(self._answers) + len(self._failures) < len(self._phases):
            left_s = None if until is None else until - time.monotonic()
            if left_s is not None and left_s <= 0:
                break
            had_trouble = bool(self._troubles)
            for sign in self._crew.listen(left_s):
                self._take(sign)
            if self._troubles and not had_trouble:
                patient = time.monotonic() + patience_s
                until = patient if until is None else min(until, patient)
        if self._troubles:
            raise self._failed(on_error)
        if len(self._answers) < len(self._phases):
            raise CallFailed(self._silence(deadline.timeout_s))
        return self._answers

    def _take(self, sign: Sign) -> None:
        if isinstance(sign, Heard):
            self._hear(sign.rank, sign.message)
        elif isinstance(sign, Died):
            phase = self._phases[sign.rank]
            error: ReactorError = WorkerCrashed(sign.rank, phase, sign.exit_code, sign.last_words)
            self._troubles.append(Trouble(Gravity.DEATH, sign.rank, error))
            self._is_over = True
        elif isinstance(sign, Garbled):
            failure = describe_failure(sign.error, self._phases[sign.rank])
            self._fail(sign.rank, failure)
        else:
            raise CallFailed(WorkerGroupStateError(self._phase(), "shutting down"))

    def _hear(self, rank: int, message: Any) -> None:
        if isinstance(message, Notice):
            self._on_notice(rank, message.payload)
        elif isinstance(message, Reached):
            self._phases[rank] = message.phase
        elif isinstance(message, Failure):
            self._fail(rank, message)
        else:
            self._answers[rank] = message

    def _fail(self, rank: int, failure: Failure) -> None:
        self._failures[rank] = failure
        gravity = Gravity.COLLECTIVE_ERROR if failure.is_collective else Gravity.ERROR
        error = worker_error(rank, failure, failure.phase or self._phases[rank])
        self._troubles.append(Trouble(gravity, rank, error))

    def _failed(self, on_error: OnError) -> CallFailed:
        cause = first_cause(self._troubles)
        silent = sorted(set(self._phases) - set(self._answers) - set(self._failures))
        if isinstance(cause, WorkerError):
            alike = (rank for rank, f in self._failures.items() if f.kind == cause.kind)
            cause.ranks = tuple(sorted(alike))
            if silent and not self._is_over:
                cause.add_note(f"no answer yet from ranks {', '.join(map(str, silent))}")
        survives = on_error is OnError.SETTLE and not silent and not self._is_over
        return CallFailed(cause, is_survivable=survives)

    def _silence(self, timeout_s: float) -> WorkerTimeout:
        silent = sorted(set(self._phases) - set(self._answers))
        processes = [self._crew.processes[rank] for rank in silent]
        phase = self._phases[silent[0]]
        return WorkerTimeout(silent[0], phase, timeout_s, tuple(silent), stacks_of(processes))

    def _phase(self) -> str:
        return next(iter(self._phases.values()))
