"""RollCall: one answer from every rank, or the one error that says why not."""

import time
from collections.abc import Sequence
from typing import Any, Final

from reactor_runtime.distributed.crew import Crew
from reactor_runtime.distributed.deadline import Deadline
from reactor_runtime.distributed.failure_report import describe_failure, worker_error
from reactor_runtime.distributed.hang_report import stacks_of
from reactor_runtime.distributed.messages import Failure, Reached, Reply
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
        made: What every rank had made before it raised, in their order; mostly nothing.
    """

    def __init__(
        self, error: Exception, *, is_survivable: bool = False, made: Sequence[Reply] = ()
    ) -> None:
        super().__init__(error, is_survivable, made)
        self.error, self.is_survivable, self.made = error, is_survivable, made


class RollCall:
    """Waits for every rank to answer one message.

    Args:
        crew: Who is to answer.
        phase: What they were asked to do.
    """

    def __init__(self, crew: Crew, phase: str) -> None:
        self._crew = crew
        self._phase = phase
        self._phases: dict[int, str] = {}  # of the ranks that are further than that
        self._answers: dict[int, Any] = {}
        self._troubles: list[Trouble] = []
        self._failures: dict[int, Failure] = {}
        self._is_over = False

    def collect(self, deadline: Deadline, on_error: OnError, settle_s: float) -> list[Any]:
        """Return the answers, in the order of ranks.

        Args:
            deadline: Until when.
            on_error: Whether to wait for the others when a rank has raised.
            settle_s: For how many seconds then; 0 for as long as *deadline* lets it.

        Raises:
            CallFailed: A rank raised, died or was silent, or the group is to stop.
        """
        answers, until = self._answers, deadline.until
        size, listen = len(self._crew.processes), self._crew.inbox.listen
        while len(answers) + len(self._failures) < size and not self._is_over:
            signs = listen(until)
            if not signs and until is not None and time.monotonic() >= until:
                break
            for sign in signs:
                if type(sign) is Heard and type(sign.message) is Reply:  # all there is, mostly
                    answers[sign.rank] = sign.message
                else:
                    self._take(sign)
            if self._troubles and until == deadline.until:
                patience_s = settle_s if on_error is OnError.SETTLE else _LISTEN_ON_S
                until = _sooner(until, Deadline.after(patience_s).until)
        if self._troubles:
            raise self._failed(on_error)
        if len(answers) < size:
            raise CallFailed(self._silence(deadline.timeout_s))
        return [answers[rank] for rank in range(size)]

    def _take(self, sign: Sign) -> None:
        if isinstance(sign, Heard):
            self._hear(sign.rank, sign.message)
        elif isinstance(sign, Died):
            phase = self._phase_of(sign.rank)
            error: ReactorError = WorkerCrashed(sign.rank, phase, sign.exit_code, sign.last_words)
            self._troubles.append(Trouble(Gravity.DEATH, sign.rank, error))
            self._is_over = True
        elif isinstance(sign, Garbled):
            failure = describe_failure(sign.error, self._phase_of(sign.rank))
            self._fail(sign.rank, failure)
        else:
            raise CallFailed(WorkerGroupStateError(self._phase, "shutting down"))

    def _hear(self, rank: int, message: Any) -> None:
        if isinstance(message, Failure):
            self._fail(rank, message)
        elif isinstance(message, Reached):
            self._phases[rank] = message.phase
        else:
            self._answers[rank] = message

    def _fail(self, rank: int, failure: Failure) -> None:
        self._failures[rank] = failure
        gravity = Gravity.COLLECTIVE_ERROR if failure.is_collective else Gravity.ERROR
        error = worker_error(rank, failure, failure.phase or self._phase_of(rank))
        self._troubles.append(Trouble(gravity, rank, error))

    def _failed(self, on_error: OnError) -> CallFailed:
        cause = first_cause(self._troubles)
        silent = self._silent()
        if isinstance(cause, WorkerError):
            alike = (rank for rank, f in self._failures.items() if f.kind == cause.kind)
            cause.ranks = tuple(sorted(alike))
            if silent and not self._is_over:
                cause.add_note(f"no answer yet from ranks {', '.join(map(str, silent))}")
        survives = on_error is OnError.SETTLE and not silent and not self._is_over
        made = [self._failures[rank].made for rank in sorted(self._failures)]
        told = [reply for reply in made if reply is not None]
        is_all = survives and len(told) == len(self._crew.processes)
        return CallFailed(cause, is_survivable=survives, made=told if is_all else ())

    def _silence(self, timeout_s: float) -> WorkerTimeout:
        silent = self._silent()
        processes = [self._crew.processes[rank] for rank in silent]
        phase = self._phase_of(silent[0])
        return WorkerTimeout(silent[0], phase, timeout_s, tuple(silent), stacks_of(processes))

    def _silent(self) -> list[int]:
        ranks = range(len(self._crew.processes))
        return [rank for rank in ranks if rank not in self._answers and rank not in self._failures]

    def _phase_of(self, rank: int) -> str:
        return self._phases.get(rank, self._phase)


def _sooner(one: float | None, other: float | None) -> float | None:
    return min((until for until in (one, other) if until is not None), default=None)
