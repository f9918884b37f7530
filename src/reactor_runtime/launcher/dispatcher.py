"""Dispatcher: who runs what. Gives queued jobs their nodes, and takes lost nodes' tasks away.

Every method belongs inside a transaction of the store.
"""

import uuid
from collections.abc import Callable

from reactor_runtime.launcher import job_record
from reactor_runtime.launcher.agent_messages import AgentStart, NodeOffer, TaskOrder
from reactor_runtime.launcher.allocation import Seat, allocate
from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.job_record import AttemptRecord, JobRecord, TaskRecord
from reactor_runtime.launcher.job_state import JobState, TaskState
from reactor_runtime.launcher.job_store import JobStore

JOIN_GRACE_S = 10.0
Holds = Callable[[TaskRecord], bool]


class Dispatcher:
    """Works on the jobs of *store* that are not over; asks *is_alive* of a start of an agent."""

    def __init__(self, store: JobStore, is_alive: Callable[[AgentStart], bool]) -> None:
        self._store, self._is_alive = store, is_alive
        self._joining: dict[str, float] = {}

    def allocate(self) -> None:
        """Give nodes to the queued jobs, in order: all that a job needs, or none."""
        for record in self._store.live_jobs():
            if record.state is not JobState.QUEUED:
                continue
            found = allocate(record.job, self._seats())
            if found.is_refused:
                self._store.save_job(job_record.refused(record, found.reason))
            elif found.nodes:
                self._store.save_job(job_record.started(record, _attempt_of(record, found.nodes)))
            else:
                if record.reason != found.reason and record.attempt is None:
                    self._store.save_job(job_record.waiting(record, found.reason))
                if found.can_ever:
                    return  # those behind it wait for their turn

    def lose(self, holds: Holds, why: str) -> None:
        """Have the tasks for which *holds* says so lost; their processes may still run."""
        for record in self._store.live_jobs():
            after = record
            for task in record.attempt.tasks if record.attempt else ():
                if holds(task):
                    words = f"{why} (agent {task.agent_id} at {task.address})"
                    after = job_record.lost(after, task.node_rank, words)
            self._save_changed(record, after)

    def replace(self, before: NodeOffer, offer: NodeOffer) -> None:
        """Take the tasks of *before*, and of all starts of its name before that, away from them."""
        is_known_gone = bool(offer.home) and offer.home == before.home
        why = "was started again" if is_known_gone else f"lost its name to one at {offer.address}"

        def is_earlier(task: TaskRecord) -> bool:
            return task.agent_id == offer.agent_id and task.start != offer.start

        self.lose(is_earlier, f"its agent {why}")
        if offer.home:
            self.free(lambda t: is_earlier(t) and t.home == offer.home)

    def free(self, holds: Holds) -> None:
        """Count the processes of the tasks that have ended, and for which it holds, as gone."""
        for record in self._store.live_jobs():
            after = job_record.freed(record, lambda t: t.state.is_final and holds(t))
            self._save_changed(record, after)

    def holders(self) -> set[AgentStart]:
        """Return every start of an agent that may still run something."""
        tasks = (t for r in self._store.live_jobs() for a in r.attempts for t in a.tasks)
        return {task.start for task in tasks if not task.is_free}

    def judge_joins(self, now: float) -> None:
        """Fail the jobs whose nodes have not met long after they should have."""
        starting = [r for r in self._store.live_jobs() if r.state is JobState.STARTING]
        known = self._joining
        self._joining = {}
        for record in starting:
            attempt = record.attempt
            if attempt is None:
                continue
            since = self._joining[attempt.attempt_id] = known.get(attempt.attempt_id, now)
            limit = record.job.rendezvous.join_timeout_s
            if now - since > limit + JOIN_GRACE_S:
                self._store.save_job(job_record.failed_as_a_whole(record, _absence(attempt, limit)))

    def orders(self, agent: AgentStart) -> tuple[TaskOrder, ...]:
        """Return every task that *agent* should hold."""
        return tuple(
            order
            for record in self._store.live_jobs()
            for task, order in _orders_of(record)
            if task.start == agent
        )

    def _save_changed(self, before: JobRecord, after: JobRecord) -> None:
        if after != before:
            self._store.save_job(after)

    def _seats(self) -> list[Seat]:
        # By name: what an earlier agent of a name may still run takes up the procs of the next.
        busy: dict[str, int] = {}
        for record in self._store.live_jobs():
            for task in (t for a in record.attempts for t in a.tasks if not t.is_free):
                busy[task.agent_id] = busy.get(task.agent_id, 0) + task.procs
        return [
            Seat(offer=offer, free=offer.procs - busy.get(agent_id, 0))
            for agent_id, offer in sorted(self._store.agents().items())
            if self._is_alive(offer.start)
        ]


def _absence(attempt: AttemptRecord, limit_s: float) -> RankFailure:
    waiting = (t for t in attempt.tasks if t.state is TaskState.ASSIGNED)
    absent = next(waiting, attempt.tasks[0])
    words = f"did not join within {limit_s:g} s (agent {absent.agent_id})"
    return RankFailure(node_rank=absent.node_rank, message=words)


def _attempt_of(record: JobRecord, nodes: tuple[NodeOffer, ...]) -> AttemptRecord:
    number = len(record.attempts) + 1
    return AttemptRecord(
        attempt_id=f"{record.job_id}.{number}.{uuid.uuid4().hex[:8]}",
        number=number,
        tasks=tuple(
            TaskRecord(
                node_rank=rank,
                agent_id=offer.agent_id,
                incarnation=offer.incarnation,
                home=offer.home,
                address=offer.address,
                interface=offer.interface,
                procs=record.job.procs_per_worker,
            )
            for rank, offer in enumerate(nodes)
        ),
    )


def _orders_of(record: JobRecord) -> list[tuple[TaskRecord, TaskOrder]]:
    """Return the tasks of a job that its agents should hold; those of rank > 0 once they may."""
    attempt = record.attempt
    if attempt is None or record.state.is_final or record.state is JobState.QUEUED:
        return []
    stop = record.state is JobState.STOPPING
    return [
        (
            task,
            TaskOrder(
                job_id=record.job_id,
                attempt_id=attempt.attempt_id,
                node_rank=task.node_rank,
                job=record.job,
                source=record.source,
                peers=tuple(t.address for t in attempt.tasks),
                endpoint=attempt.endpoint,
                stop=stop,
            ),
        )
        for task in attempt.tasks
        if task.node_rank == 0 or attempt.endpoint is not None or stop
    ]
