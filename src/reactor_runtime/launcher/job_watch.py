"""JobWatch: follows one job from outside: its states, its log lines, its result."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reactor_runtime.errors import ControlPlaneAbsentError
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.job_state import JobState

POLL_S = 0.2
PATIENCE_S = 60.0  # of a control plane that is started again, or has no time
_MOST_BYTES = 8 * 1024**2  # of lines in one look
_STATUSES = {JobState.SUCCEEDED: 0, JobState.CANCELLED: 130}


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What one look has shown.

    Attributes:
        record: The job.
        lines: Log lines since the look before.
        is_whole: Whether there were no more at that moment.
    """

    record: JobRecord
    lines: bytes
    is_whole: bool


class JobWatch:
    """Looks at a job as often as it is asked to."""

    def __init__(self, client: ControlClient, job_id: str, node_rank: int | None = None) -> None:
        self._client, self._job_id, self._node_rank = client, job_id, node_rank
        self._offsets: dict[tuple[str, int], int] = {}

    def look(self) -> Glance:
        """Return the job as it is, and the log lines up to then, as far as a look can hold them."""
        record = self._client.job(self._job_id)
        parts, offsets, size = [], dict(self._offsets), 0
        for part in self._new_lines(record, offsets):
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                break
        self._offsets = offsets  # only now: what could not be had is asked for again
        return Glance(record=record, lines=b"".join(parts), is_whole=size <= _MOST_BYTES)

    def so_far(self) -> Iterator[Glance]:
        """Look until there are no more lines."""
        is_whole = False
        while not is_whole:
            glance = self.look()
            is_whole = glance.is_whole
            yield glance

    def follow(self, pause: Callable[[float], object]) -> Iterator[Glance]:
        """Look again and again until the job is over; *pause* waits some seconds in between.

        Raises:
            ControlPlaneAbsentError: Nobody has answered for ``PATIENCE_S``.
        """
        answered_at = time.monotonic()
        while True:
            try:
                glance = self.look()
            except ControlPlaneAbsentError:
                if time.monotonic() - answered_at > PATIENCE_S:
                    raise
            else:
                answered_at = time.monotonic()
                yield glance
                if not glance.is_whole:
                    continue
                if glance.record.state.is_final:
                    return
            pause(POLL_S)

    def _new_lines(self, record: JobRecord, offsets: dict[tuple[str, int], int]) -> Iterator[bytes]:
        is_over = record.state.is_final
        for attempt in record.attempts:
            for task in attempt.tasks:
                if self._node_rank not in (None, task.node_rank):
                    continue
                key = (attempt.attempt_id, task.node_rank)
                while part := self._whole_lines(key, offsets.get(key, 0), is_over=is_over):
                    offsets[key] = offsets.get(key, 0) + len(part)
                    yield part

    def _whole_lines(self, key: tuple[str, int], offset: int, *, is_over: bool) -> bytes:
        """Return what is new of a node's log, less a line whose end has not come yet.

        Once the job *is_over* it never will: the agent died while it sent the line.
        """
        lines, newline, rest = self._client.files.log(*key, offset).rpartition(b"\n")
        if is_over and rest and not newline:
            return rest + b"\n"
        return lines + newline


def exit_status(record: JobRecord) -> int:
    """Return 0 for success, 130 for a cancelled job, else 1."""
    return _STATUSES.get(record.state, 1)


def result_lines(record: JobRecord) -> list[str]:
    """Return the result in words: the first cause with its traceback, the rest under it."""
    if record.state is JobState.FAILED:
        lines = [f"job {record.job_id} failed: {record.reason}"]
        if record.causes and record.causes[0].traceback:
            lines += [f"  {line}" for line in record.causes[0].traceback.rstrip().splitlines()]
        lines += [f"  then: {cause.sentence}" for cause in record.causes[1:]]
    else:
        lines = [f"job {record.job_id} {record.state}"]
    tasks = record.attempt.tasks if record.attempt else ()
    if record.state is JobState.SUCCEEDED:
        lines += [
            f"  no output: {glob!r} matches no file of {_nodes(len(tasks))}"
            for glob in record.job.outputs
            if all(glob in task.unmatched for task in tasks)
        ]
    return [*lines, *(f"  node {t.node_rank}: {note}" for t in tasks for note in t.notes)]


def _nodes(count: int) -> str:
    return "node 0" if count == 1 else f"nodes 0 to {count - 1}"
