"""JobRecord: everything known of one job; frozen, and changed by pure functions.

A record is one row of the state file, so that each change is one transaction: a control plane
that dies between two changes has made the first and not the second.
"""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from reactor_runtime.errors import JobConflictError
from reactor_runtime.launcher.agent_messages import (
    AgentStart,
    Delivered,
    Ended,
    Outcome,
    Published,
    Report,
    Started,
)
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.failures import RankFailure, first_cause
from reactor_runtime.launcher.job_state import JobState, TaskEvent, TaskState, next_state


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskRecord(_Record):
    """One node's part of an attempt.

    Attributes:
        home: Id of the agent's work folder.
        known: Numbers of the reports that have been taken.
        unmatched: The globs of outputs that no file there matches.
        is_delivered: Logs and outputs are complete, or never will be.
        is_free: None of its processes is left on its agent.
    """

    node_rank: int
    agent_id: str
    incarnation: str
    home: str = ""
    address: str
    interface: str
    procs: int
    state: TaskState = TaskState.ASSIGNED
    known: tuple[int, ...] = ()
    failures: tuple[RankFailure, ...] = ()
    notes: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    is_delivered: bool = False
    is_free: bool = False

    @property
    def start(self) -> AgentStart:
        """Which start of which agent has it."""
        return AgentStart(self.agent_id, self.incarnation)


class AttemptRecord(_Record):
    """One start of the whole job: its own id, store and port."""

    attempt_id: str
    number: int
    endpoint: str | None = None
    tasks: tuple[TaskRecord, ...]

    @property
    def has_ended(self) -> bool:
        """Whether every task has ended and handed in what it had."""
        return all(task.state.is_final and task.is_delivered for task in self.tasks)


class JobRecord(_Record):
    """One job from its submission to its end, and after it.

    Attributes:
        number: Position in the queue, for ever.
        source: SHA-256 of the source archive.
        reason: Why it waits, or the first cause of its failure.
        verdict: How it will end, once that is decided.
        causes: Failures of the last attempt, cause first.
    """

    job_id: str
    number: int
    job: DistributedJob
    source: str
    submitted_at: float
    state: JobState = JobState.QUEUED
    reason: str = ""
    verdict: Outcome | None = None
    causes: tuple[RankFailure, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()

    @property
    def attempt(self) -> AttemptRecord | None:
        """The latest attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def is_settled(self) -> bool:
        """Whether it is over and holds no process of any agent."""
        return self.state.is_final and all(t.is_free for a in self.attempts for t in a.tasks)


def started(record: JobRecord, attempt: AttemptRecord) -> JobRecord:
    """Return *record* with its nodes taken."""
    return record.model_copy(
        update={
            "state": JobState.STARTING,
            "reason": "",
            "verdict": None,
            "causes": (),
            "attempts": (*record.attempts, attempt),
        }
    )


def reported(record: JobRecord, report: Report) -> JobRecord:
    """Return *record* after *report*; the same record when it is known already.

    Raises:
        JobConflictError: It is about no such task, comes from another agent, or contradicts.
    """
    attempt, task = _task_of(record, report)
    if report.number in task.known:
        _must_not_contradict(attempt, report)
        return record
    changed = task.model_copy(update={"known": (*task.known, report.number)})
    body = report.body
    if isinstance(body, Published):
        attempt = _published(record, attempt, report, body)
    elif isinstance(body, Started):
        if changed.state is TaskState.ASSIGNED:
            state = next_state(changed.state, TaskEvent.STARTED)
            changed = changed.model_copy(update={"state": state})
    elif isinstance(body, Ended):
        changed = _ended(changed, body)
    elif isinstance(body, Delivered):
        update = {"is_delivered": True, "notes": body.notes, "unmatched": body.unmatched}
        changed = changed.model_copy(update=update)
    return settled(_with(record, _with_task(attempt, changed)))


def lost(record: JobRecord, node_rank: int, why: str) -> JobRecord:
    """Return *record* after its latest attempt has lost the agent of *node_rank*."""
    attempt = record.attempt
    if attempt is None:
        return record
    task = attempt.tasks[node_rank]
    update: dict[str, object] = {"is_delivered": True}
    if not task.is_delivered:
        update["notes"] = ("its agent was lost: its outputs and the end of its log may be missing",)
    if not task.state.is_final:
        failure = RankFailure(node_rank=node_rank, message=why)
        update |= {
            "state": next_state(task.state, TaskEvent.LOST),
            "failures": (*task.failures, failure),
        }
    return settled(_with(record, _with_task(attempt, task.model_copy(update=update))))


def freed(record: JobRecord, does_hold: Callable[[TaskRecord], bool]) -> JobRecord:
    """Return *record* with the processes of every task counted as gone for which it holds."""
    attempts = tuple(
        attempt.model_copy(
            update={
                "tasks": tuple(
                    t.model_copy(update={"is_free": True}) if does_hold(t) else t
                    for t in attempt.tasks
                )
            }
        )
        for attempt in record.attempts
    )
    return record.model_copy(update={"attempts": attempts})


def failed_as_a_whole(record: JobRecord, failure: RankFailure) -> JobRecord:
    """Return *record* failed by a node that never came, none of whose processes is to blame."""
    attempt = record.attempt
    if attempt is None or record.state not in {JobState.STARTING, JobState.RUNNING}:
        return record
    task = attempt.tasks[failure.node_rank]
    changed = task.model_copy(update={"failures": (*task.failures, failure)})
    record = _with(record, _with_task(attempt, changed))
    return settled(_stopping(record, Outcome.FAILED, failure.sentence))


def cancelled(record: JobRecord) -> JobRecord:
    """Return *record* cancelled; what runs of it is still to stop."""
    if record.state is JobState.QUEUED:
        update = {"state": JobState.CANCELLED, "verdict": Outcome.CANCELLED, "reason": ""}
        return record.model_copy(update=update)
    if record.state in {JobState.STARTING, JobState.RUNNING}:
        return settled(_stopping(record, Outcome.CANCELLED, "cancelled"))
    if record.state is JobState.STOPPING and _is_to_start_again(record):
        return _stopping(record, Outcome.CANCELLED, "cancelled")
    return record


def refused(record: JobRecord, why: str) -> JobRecord:
    """Return *record* failed before anything of it was started."""
    update = {"state": JobState.FAILED, "verdict": Outcome.FAILED, "reason": why}
    return record.model_copy(update=update)


def waiting(record: JobRecord, why: str) -> JobRecord:
    """Return *record* with the reason for which it waits."""
    return record.model_copy(update={"reason": why})


def settled(record: JobRecord) -> JobRecord:
    """Return *record* in the job state that follows from the states of its tasks."""
    attempt = record.attempt
    if attempt is None or record.state.is_final or record.state is JobState.QUEUED:
        return record
    bad = next((t for t in attempt.tasks if t.state in {TaskState.FAILED, TaskState.LOST}), None)
    if bad is not None and record.state is not JobState.STOPPING:
        reason = bad.failures[0].sentence if bad.failures else f"node {bad.node_rank} failed"
        record = _stopping(record, Outcome.FAILED, reason)
    elif record.state is JobState.STARTING and all(
        t.state is not TaskState.ASSIGNED for t in attempt.tasks
    ):
        record = record.model_copy(update={"state": JobState.RUNNING})
    return _concluded(record, attempt) if attempt.has_ended else record


def _concluded(record: JobRecord, attempt: AttemptRecord) -> JobRecord:
    verdict = record.verdict or Outcome.SUCCEEDED
    causes = first_cause([failure for task in attempt.tasks for failure in task.failures])
    update: dict[str, object] = {"verdict": verdict, "causes": causes, "state": JobState(verdict)}
    if verdict is Outcome.FAILED:
        update["reason"] = causes[0].sentence if causes else record.reason
        if _is_to_start_again(record):
            update["state"] = JobState.QUEUED  # whole, again, from its newest checkpoint
    return record.model_copy(update=update)


def _is_to_start_again(record: JobRecord) -> bool:
    is_failed = record.verdict is Outcome.FAILED
    return is_failed and len(record.attempts) < record.job.attempts_allowed


def _stopping(record: JobRecord, verdict: Outcome, reason: str) -> JobRecord:
    update = {"state": JobState.STOPPING, "verdict": verdict, "reason": reason}
    return record.model_copy(update=update)


def _ended(task: TaskRecord, body: Ended) -> TaskRecord:
    update: dict[str, object] = {"is_free": True}
    if not task.state.is_final:
        update["state"] = next_state(task.state, TaskEvent(body.outcome))
    if task.state is not TaskState.LOST:
        update["failures"] = (*task.failures, *body.failures)
    return task.model_copy(update=update)


def _published(
    record: JobRecord, attempt: AttemptRecord, report: Report, body: Published
) -> AttemptRecord:
    if report.node_rank != 0:
        raise JobConflictError(record.job_id, "only the node of rank 0 may publish an endpoint")
    if attempt is not record.attempt or record.state is not JobState.STARTING:
        raise JobConflictError(record.job_id, f"attempt {attempt.attempt_id} takes no endpoint")
    if attempt.endpoint is not None and attempt.endpoint != body.endpoint:
        raise JobConflictError(record.job_id, f"its endpoint is {attempt.endpoint} already")
    return attempt.model_copy(update={"endpoint": body.endpoint})


def _must_not_contradict(attempt: AttemptRecord, report: Report) -> None:
    body = report.body
    if isinstance(body, Published) and attempt.endpoint != body.endpoint:
        raise JobConflictError(report.job_id, f"its endpoint is {attempt.endpoint} already")


def _task_of(record: JobRecord, report: Report) -> tuple[AttemptRecord, TaskRecord]:
    for attempt in record.attempts:
        if attempt.attempt_id == report.attempt_id and report.node_rank < len(attempt.tasks):
            task = attempt.tasks[report.node_rank]
            if task.start != report.start:
                reason = f"node {report.node_rank} of {report.attempt_id} is another agent's"
                raise JobConflictError(record.job_id, reason)
            return attempt, task
    reason = f"there is no node {report.node_rank} in an attempt {report.attempt_id}"
    raise JobConflictError(record.job_id, reason)


def _with_task(attempt: AttemptRecord, task: TaskRecord) -> AttemptRecord:
    tasks = list(attempt.tasks)
    tasks[task.node_rank] = task
    return attempt.model_copy(update={"tasks": tuple(tasks)})


def _with(record: JobRecord, attempt: AttemptRecord) -> JobRecord:
    attempts = tuple(attempt if a.attempt_id == attempt.attempt_id else a for a in record.attempts)
    return record.model_copy(update={"attempts": attempts})
