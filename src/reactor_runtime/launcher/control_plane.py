"""ControlPlane: takes jobs, gives every node its task, gathers reports, fails fast.

Each public method is one transaction on the ``JobStore`` and returns at once; nothing here waits.
What is not in the store (who was heard when) is only ever used to judge that an agent is lost, and
begins anew after a start and after a pause.
"""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from reactor_runtime.clock import Clock
from reactor_runtime.errors import AgentNameTakenError
from reactor_runtime.launcher import job_record
from reactor_runtime.launcher.agent_messages import (
    AgentStart,
    Beat,
    BeatAnswer,
    NodeOffer,
    Orders,
    Report,
    Submission,
    Terms,
)
from reactor_runtime.launcher.dispatcher import Dispatcher
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.job_store import JobStore
from reactor_runtime.launcher.leases import Leases
from reactor_runtime.log import get_logger

_LOG = get_logger("reactor_runtime.launcher")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSettings:
    """How patient a control plane is, in seconds.

    Attributes:
        heartbeat_s: How often agents give a sign of life.
        heartbeat_limit_s: Silence after which an agent is lost, and its jobs with it.
        control_timeout_s: Silence of the control plane after which an agent ends its own tasks.
        stop_grace_s: What it has for that; only then a lost agent's processes count as gone.
    """

    heartbeat_s: float = 1.0
    heartbeat_limit_s: float = 5.0
    control_timeout_s: float = 300.0
    stop_grace_s: float = 10.0


class ControlPlane:
    """The state of every job and agent, and the rules by which it moves.

    Args:
        store: Its memory.
        clock: The time.
        settings: How patient it is.
        has_outputs: Whether outputs of a job of that id are there already.

    Attributes:
        on_change: Called after every change of what agents should hold, on the caller's thread.
    """

    def __init__(
        self,
        store: JobStore,
        clock: Clock,
        settings: ControlSettings | None = None,
        has_outputs: Callable[[str], bool] = lambda job_id: False,
    ) -> None:
        self._store, self._clock = store, clock
        self._has_outputs = has_outputs
        self._settings = settings or ControlSettings()
        self.on_change: Callable[[], object] = lambda: None
        self._lock = threading.RLock()
        self._version = secrets.randbits(40)  # an agent's number of before a restart is no match
        self._leases = Leases(
            self._settings.heartbeat_s,
            self._settings.heartbeat_limit_s,
            self._settings.control_timeout_s,
        )
        self._dispatcher = Dispatcher(store, self._leases.is_alive)
        registered = {offer.start for offer in store.agents().values()}
        replaced = self._dispatcher.holders() - registered
        self._leases.begin(clock.now(), registered | replaced)
        for agent in replaced:
            self._leases.lose(agent)

    @property
    def terms(self) -> Terms:
        """What agents are told when they register."""
        return Terms(
            heartbeat_s=self._settings.heartbeat_s,
            control_timeout_s=self._settings.control_timeout_s,
        )

    def submit(self, submission: Submission) -> JobRecord:
        """Queue a job."""
        with self._lock, self._store.change():
            while True:  # outputs of another state's job are never taken for this one's
                number = self._store.next_number("job")
                job_id = f"{submission.job.name}-{number}"
                if not self._has_outputs(job_id):
                    break
            record = JobRecord(
                job_id=job_id,
                number=number,
                job=submission.job,
                source=submission.source,
                submitted_at=self._clock.wall(),
            )
            self._store.save_job(record)
            self._dispatcher.allocate()
        self._changed()
        return self.job(record.job_id)

    def cancel(self, job_id: str) -> JobRecord:
        """Have a job end, whatever it does; one that has ended stays as it is.

        Raises:
            UnknownJobError: There is none of that id.
        """
        return self._edit(job_id, job_record.cancelled)

    def job(self, job_id: str) -> JobRecord:
        """Return one job, or raise ``UnknownJobError``."""
        return self._store.job(job_id)

    def jobs(self) -> list[JobRecord]:
        """Return every job, oldest first."""
        return self._store.jobs()

    def register(self, offer: NodeOffer) -> Terms:
        """Take an agent in; tasks of an earlier start of its name are lost.

        They are gone as well when both have had the same work folder. Otherwise they may run on
        elsewhere, and count as busy as those of every lost agent.

        Raises:
            AgentNameTakenError: Another agent of that name is alive.
        """
        with self._lock, self._store.change():
            before = self._store.agents().get(offer.agent_id)
            if before is not None and before.start != offer.start:
                if self._leases.is_held(before.start):
                    raise AgentNameTakenError(offer.agent_id, before.address)
                self._leases.lose(before.start)
                self._dispatcher.replace(before, offer)
            self._store.save_agent(offer)
            self._leases.hear(offer.start, self._clock.now())
            self._dispatcher.allocate()
        self._changed()
        return self.terms

    def agents(self) -> list[str]:
        """Return the names of the agents that are alive."""
        offers = self._store.agents().values()
        return [offer.agent_id for offer in offers if self._leases.is_alive(offer.start)]

    def beat(self, beat: Beat) -> BeatAnswer | None:
        """Take a sign of life; ``None`` when the agent must register (again).

        After its last one an agent is gone, and what it has not reported as over is lost.
        """
        with self._lock:
            offer = self._store.agents().get(beat.agent_id)
            if offer is None or offer.start != beat.start:
                return None
            if beat.is_last:
                _LOG.info("agent_left", agent=beat.agent_id)
                self._leases.lose(beat.start)
                with self._store.change():
                    self._dispatcher.lose(lambda t: t.start == beat.start, "its agent has left")
                self._changed()
                return BeatAnswer()
            if self._leases.hear(beat.start, self._clock.now()):
                self._changed()
            orders = self._dispatcher.orders(beat.start)
            return BeatAnswer(stop=tuple(order.attempt_id for order in orders if order.stop))

    def orders(self, agent: AgentStart) -> Orders:
        """Return everything *agent* should hold now."""
        with self._lock:
            return Orders(version=self._version, tasks=self._dispatcher.orders(agent))

    def hang_up(self, agent: AgentStart) -> None:
        """Note that an agent closed the connection it was to be told of changes by."""
        with self._lock:
            self._leases.hang_up(agent)

    def report(self, report: Report) -> None:
        """Take what an agent says of a task; one that is known already changes nothing.

        Raises:
            UnknownJobError: There is no such job.
            JobConflictError: It contradicts what is known; the sender must stop.
        """
        self._edit(report.job_id, lambda record: job_record.reported(record, report))

    def tick(self) -> None:
        """Look at the time: lost agents, nodes that never come, processes that must be gone."""
        with self._lock:
            now = self._clock.now()
            dead = self._leases.judge(now)
            limit = self._settings.heartbeat_limit_s
            with self._store.change():
                before = self._store.live_jobs()
                for agent in dead:
                    _LOG.error("agent_lost", agent=agent.agent_id, silent_s=limit)
                if dead:
                    self._dispatcher.lose(
                        lambda t: t.start in dead, f"lost: no heartbeat for {limit:g} s"
                    )
                self._dispatcher.judge_joins(now)
                self._forget_the_gone(now)
                self._dispatcher.allocate()
                has_changed = before != self._store.live_jobs()
        if has_changed:
            self._changed()

    def _edit(self, job_id: str, change: Callable[[JobRecord], JobRecord]) -> JobRecord:
        with self._lock, self._store.change():
            before = self._store.job(job_id)
            after = change(before)
            if after != before:
                self._store.save_job(after)
                self._dispatcher.allocate()
        if after != before:
            self._changed()
        return after

    def _forget_the_gone(self, now: float) -> None:
        limit = self._settings.control_timeout_s + self._settings.stop_grace_s
        gone = self._leases.silent_for(limit, now)
        if not gone:
            return
        self._dispatcher.free(lambda t: t.start in gone)
        for offer in self._store.agents().values():
            if offer.start in gone:
                self._store.forget_agent(offer.agent_id)
        for agent in gone:
            self._leases.forget(agent)

    def _changed(self) -> None:
        with self._lock:
            self._version += 1
        self.on_change()
