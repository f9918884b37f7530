"""JobWatch: follows one job from outside: its states, its log lines, its result."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.job_state import JobState

POLL_S = 0.2
_STATUSES = {JobState.SUCCEEDED: 0, JobState.CANCELLED: 130}


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What one look has shown: the job, and the log lines since the look before."""

    record: JobRecord
    lines: bytes


class JobWatch:
    """Looks at a job as often as it is asked to."""

    def __init__(self, client: ControlClient, job_id: str, node_rank: int | None = None) -> None:
        self._client, self._job_id, self._node_rank = client, job_id, node_rank
        self._offsets: dict[tuple[str, int], int] = {}

    def look(self) -> Glance:
        """Return the job as it is, and every log line up to then."""
        record = self._client.job(self._job_id)
        return Glance(record=record, lines=b"".join(self._new_lines(record)))

    def follow(self, pause: Callable[[float], object]) -> Iterator[Glance]:
        """Look again and again until the job is over; *pause* waits some seconds in between."""
        while True:
            glance = self.look()
            yield glance
            if glance.record.state.is_final:
                return
            pause(POLL_S)

    def _new_lines(self, record: JobRecord) -> Iterator[bytes]:
        for attempt in record.attempts:
            for task in attempt.tasks:
                if self._node_rank not in (None, task.node_rank):
                    continue
                key = (attempt.attempt_id, task.node_rank)
                while part := self._client.files.log(*key, self._offsets.get(key, 0)):
                    self._offsets[key] = self._offsets.get(key, 0) + len(part)
                    yield part


def exit_status(record: JobRecord) -> int:
    """Return 0 for success, 130 for a cancelled job, else 1."""
    return _STATUSES.get(record.state, 1)


def result_lines(record: JobRecord) -> list[str]:
    """Return the result in words: the first cause with its traceback, the rest under it."""
    if record.state is not JobState.FAILED:
        return [f"job {record.job_id} {record.state}"]
    lines = [f"job {record.job_id} failed: {record.reason}"]
    if record.causes and record.causes[0].traceback:
        lines += [f"  {line}" for line in record.causes[0].traceback.rstrip().splitlines()]
    lines += [f"  then: {cause.sentence}" for cause in record.causes[1:]]
    return lines
