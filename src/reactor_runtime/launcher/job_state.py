"""The states of a job and of a task, and every move between them."""

from enum import StrEnum

from reactor_runtime.errors import IllegalTransitionError


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    STARTING = "starting"  # its nodes are taken; they meet
    RUNNING = "running"
    STOPPING = "stopping"  # its end is decided; nodes still tidy up
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing more can happen."""
        return self in {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED}


class TaskState(StrEnum):
    """How far one node's task is."""

    ASSIGNED = "assigned"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        """Whether nothing more can happen."""
        return self not in {TaskState.ASSIGNED, TaskState.RUNNING}


class TaskEvent(StrEnum):
    """What can happen to a task."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


_ENDS = {
    TaskEvent.SUCCEEDED: TaskState.SUCCEEDED,
    TaskEvent.FAILED: TaskState.FAILED,
    TaskEvent.CANCELLED: TaskState.CANCELLED,
    TaskEvent.LOST: TaskState.LOST,
}
_MOVES = {
    (TaskState.ASSIGNED, TaskEvent.STARTED): TaskState.RUNNING,
    **{(TaskState.ASSIGNED, event): state for event, state in _ENDS.items()},
    **{(TaskState.RUNNING, event): state for event, state in _ENDS.items()},
}


def next_state(state: TaskState, event: TaskEvent) -> TaskState:
    """Return the state *event* leads to, or raise ``IllegalTransitionError``."""
    if (state, event) not in _MOVES:
        raise IllegalTransitionError(state, event)
    return _MOVES[state, event]
