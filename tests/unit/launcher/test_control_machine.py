"""Any order of events, with crashes between and inside any two: the promises hold.

The agents here are honest ones: they start what they are ordered to, end what they are told to
stop or what nobody answers for, and repeat reports that were not taken.
"""

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.unit.launcher.control import SETTINGS, SOURCE, HandClock

from reactor_runtime.errors import AgentNameTakenError, JobConflictError
from reactor_runtime.launcher.agent_messages import (
    Beat,
    Delivered,
    Ended,
    NodeOffer,
    Outcome,
    Published,
    Report,
    Started,
    Submission,
    TaskOrder,
)
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_plane import ControlPlane
from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.job_state import JobState, TaskState
from reactor_runtime.launcher.job_store import JobStore

PROCS = 2
NAMES = ["a", "b", "c"]
MEMORY = Path("/dev/shm")  # a thousand files are written; none needs a disk
BAD = {TaskState.FAILED, TaskState.LOST}


class CrashError(Exception):
    """The control plane dies here."""


class CrashingStore(JobStore):
    """A store that dies at the n-th write from now, when told to."""

    writes_left: int | None = None

    def save_job(self, record: JobRecord) -> None:
        if self.writes_left is not None:
            self.writes_left -= 1
            if self.writes_left < 0:
                raise CrashError
        super().save_job(record)


@dataclass
class HonestAgent:
    """One agent: what really runs on it, and the reports that it still has to bring."""

    name: str
    home: str
    incarnation: str = "0"
    silent_since: float | None = None
    running: dict[tuple[str, int], TaskOrder] = field(default_factory=dict)
    seen: dict[tuple[str, int], int] = field(default_factory=dict)
    spool: list[Report] = field(default_factory=list)

    def offer(self) -> NodeOffer:
        return NodeOffer(
            agent_id=self.name,
            incarnation=self.incarnation,
            home=self.home,
            host_id=self.name,
            address=f"10.0.0.{NAMES.index(self.name) + 1}",
            interface="eth0",
            procs=PROCS,
        )

    def put(self, order: TaskOrder, body: Any) -> None:
        self.seen[order.key] = number = self.seen.get(order.key, 0) + 1
        self.spool.append(
            Report(
                agent_id=self.name,
                incarnation=self.incarnation,
                job_id=order.job_id,
                attempt_id=order.attempt_id,
                node_rank=order.node_rank,
                number=number,
                body=body,
            )
        )

    def end(self, order: TaskOrder, outcome: Outcome) -> None:
        self.running.pop(order.key, None)
        failures = (RankFailure(node_rank=order.node_rank, rank=0, exit_code=1),)
        self.put(order, Ended(outcome=outcome, failures=failures if outcome == "failed" else ()))
        self.put(order, Delivered())


class ControlMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.path = Path(self.folder.name, "state.sqlite")
        self.clock = HandClock()
        self.store = CrashingStore(self.path)
        self.plane = ControlPlane(self.store, self.clock, SETTINGS)
        self.agents = {name: HonestAgent(name, home=name) for name in NAMES}
        self.nameless: list[HonestAgent] = []  # what they have started runs on elsewhere
        self.sent: list[Report] = []
        self.starts = 0
        self.endpoints: dict[str, str] = {}
        self.finals: dict[str, tuple[JobState, str]] = {}
        for agent in self.agents.values():
            self.plane.register(agent.offer())

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def restart(self) -> None:
        self.store.close()
        self.store = CrashingStore(self.path)
        self.plane = ControlPlane(self.store, self.clock, SETTINGS)

    def bring(self, agent: HonestAgent) -> None:
        """Have an agent send what waits, as its spool does."""
        while agent.spool:
            report = agent.spool[0]
            try:
                self.plane.report(report)
            except JobConflictError:
                agent.running.pop((report.attempt_id, report.node_rank), None)
            self.sent.append(report)
            agent.spool.pop(0)

    # What can happen.

    @rule(
        nodes=st.sampled_from([2, 1, 2, 2, 3, 4]),
        procs=st.sampled_from([1, 1, 2, 2, 3]),
        attempts=st.integers(1, 2),
    )
    def submit(self, nodes: int, procs: int, attempts: int) -> None:
        spec: dict[str, Any] = {"name": "j", "num_workers": nodes, "procs_per_worker": procs}
        if attempts > 1:
            spec["checkpoint"] = {"path": "/c", "resume": True, "max_attempts": attempts}
        job = DistributedJob.model_validate({**spec, "entrypoint": "t.py"})
        self.plane.submit(Submission(job=job, source=SOURCE))

    @rule(name=st.sampled_from(NAMES))
    def follow_orders(self, name: str) -> None:
        agent = self.agents[name]
        agent.silent_since = None
        self.alive(agent)
        orders = self.plane.orders(agent.offer().start).tasks
        for order in orders:
            if order.key not in agent.seen:
                assert order.node_rank == 0 or order.endpoint is not None or order.stop
                agent.seen[order.key] = 0
                if order.stop:
                    agent.end(order, Outcome.CANCELLED)
                else:
                    agent.running[order.key] = order
                    self.no_node_runs_more_than_it_offers()  # before the old ones have ended
                    if order.node_rank == 0:
                        port = 4000 + len(self.endpoints)
                        endpoint = f"{order.peers[0]}:{port}"
                        agent.put(order, Published(endpoint=endpoint))
                    agent.put(order, Started())
            elif order.stop and order.key in agent.running:
                agent.end(order, Outcome.CANCELLED)
        for key in set(agent.running) - {order.key for order in orders}:
            agent.end(agent.running[key], Outcome.CANCELLED)
        self.bring(agent)
        self.publish_another_value(name)

    @rule(rounds=st.integers(1, 3))
    def everybody_follows(self, rounds: int) -> None:
        for _ in range(rounds):
            for name in NAMES:
                self.follow_orders(name)

    @rule(outcome=st.sampled_from(["succeeded", "succeeded", "failed"]))
    def everything_ends(self, outcome: str) -> None:
        for name in NAMES:
            self.a_task_ends(name, outcome)
            self.bring(self.agents[name])

    def alive(self, agent: HonestAgent) -> None:
        answer = self.plane.beat(Beat(agent_id=agent.name, incarnation=agent.incarnation))
        if answer is None:
            self.plane.register(agent.offer())

    @rule(name=st.sampled_from(NAMES), outcome=st.sampled_from(["succeeded", "failed"]))
    def a_task_ends(self, name: str, outcome: str) -> None:
        agent = self.agents[name]
        if agent.running:
            agent.end(next(iter(agent.running.values())), Outcome(outcome))

    def publish_another_value(self, name: str) -> None:
        for order in self.agents[name].running.values():
            report = Report(
                agent_id=name,
                incarnation=self.agents[name].incarnation,
                job_id=order.job_id,
                attempt_id=order.attempt_id,
                node_rank=order.node_rank,
                number=99,
                body=Published(endpoint="10.9.9.9:1"),
            )
            before = self.plane.job(order.job_id)
            attempt = before.attempt
            if attempt is None or attempt.endpoint is None:
                continue
            with contextlib.suppress(JobConflictError):
                self.plane.report(report)
            assert self.plane.job(order.job_id) == before

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        report = data.draw(st.sampled_from(self.sent))
        before = self.plane.jobs()
        with contextlib.suppress(JobConflictError):
            self.plane.report(report)
        assert self.plane.jobs() == before

    @rule(seconds=st.sampled_from([12.0, 0.5, 3.0, 12.0, 80.0]), awake=st.booleans())
    def time_passes(self, seconds: float, awake: bool) -> None:
        steps = max(1, round(seconds * 2)) if awake else 1
        for _ in range(steps):
            self.clock.time += seconds / steps
            self.plane.tick()
        for agent in [*self.agents.values(), *self.nameless]:
            agent.silent_since = agent.silent_since or self.clock.time - seconds
            if self.clock.time - agent.silent_since > SETTINGS.control_timeout_s:
                for order in list(agent.running.values()):
                    agent.end(order, Outcome.FAILED)

    @rule()
    def everybody_beats(self) -> None:
        for agent in self.agents.values():
            agent.silent_since = None
            self.alive(agent)
            self.bring(agent)
        self.plane.tick()

    @precondition(lambda self: self.store.jobs())
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.plane.cancel(data.draw(st.sampled_from([j.job_id for j in self.store.jobs()])))

    @rule(name=st.sampled_from(NAMES))
    def an_agent_is_killed_and_starts_again(self, name: str) -> None:
        agent = self.agents[name]
        agent.running.clear()  # its ranks die with it
        self.plane.hang_up(agent.offer().start)
        agent.incarnation = self.next_start()
        agent.silent_since = None
        self.plane.register(agent.offer())

    @rule(name=st.sampled_from(NAMES))
    def an_agent_elsewhere_takes_the_name_of_one_that_hung_up(self, name: str) -> None:
        old = self.agents[name]
        old.silent_since = old.silent_since or self.clock.time
        self.plane.hang_up(old.offer().start)
        self.nameless.append(old)
        start = self.next_start()
        self.agents[name] = HonestAgent(name, home=f"{name}.{start}", incarnation=start)
        self.plane.register(self.agents[name].offer())

    @precondition(lambda self: self.nameless)
    @rule(data=st.data())
    def one_without_its_name_follows(self, data: st.DataObject) -> None:
        agent = data.draw(st.sampled_from(self.nameless))
        assert self.plane.beat(Beat(agent_id=agent.name, incarnation=agent.incarnation)) is None
        orders = {o.key: o for o in self.plane.orders(agent.offer().start).tasks}
        assert all(order.stop for order in orders.values())
        for order in list(agent.running.values()):
            agent.end(order, Outcome.CANCELLED)
        self.bring(agent)

    def next_start(self) -> str:
        self.starts += 1
        return str(self.starts)

    @rule(name=st.sampled_from(NAMES))
    def a_namesake_of_a_living_agent_comes(self, name: str) -> None:
        if name in self.plane.agents():
            before = self.store.jobs(), self.store.agents()
            offer = self.agents[name].offer().model_copy(update={"incarnation": "another"})
            with contextlib.suppress(AgentNameTakenError):
                self.plane.register(offer)
                raise AssertionError("two agents of one name")
            assert before == (self.store.jobs(), self.store.agents())

    @rule()
    def the_control_plane_starts_again(self) -> None:
        self.restart()

    @rule(writes=st.integers(0, 2), name=st.sampled_from(NAMES))
    def the_control_plane_dies_in_the_middle(self, writes: int, name: str) -> None:
        before = self.store.jobs()
        self.store.writes_left = writes
        try:
            self.clock.time += 1
            self.plane.tick()
            if self.agents[name].spool:
                self.plane.report(self.agents[name].spool[0])
        except (CrashError, JobConflictError):
            pass
        self.restart()
        assert [job.job_id for job in self.store.jobs()] == [job.job_id for job in before]

    # What must hold.

    @invariant()
    def no_node_runs_more_than_it_offers(self) -> None:
        for name in NAMES:
            agents = [self.agents[name], *(a for a in self.nameless if a.name == name)]
            running = [order for agent in agents for order in agent.running.values()]
            assert sum(order.job.procs_per_worker for order in running) <= PROCS

    @invariant()
    def an_attempt_is_whole_and_on_different_nodes(self) -> None:
        for record in self.store.jobs():
            for attempt in record.attempts:
                agents = [task.agent_id for task in attempt.tasks]
                assert len(agents) == len(set(agents)) == record.job.num_workers
            assert len(record.attempts) <= record.job.attempts_allowed

    @invariant()
    def an_endpoint_never_changes(self) -> None:
        for record in self.store.jobs():
            for attempt in record.attempts:
                if attempt.endpoint is not None:
                    known = self.endpoints.setdefault(attempt.attempt_id, attempt.endpoint)
                    assert attempt.endpoint == known
                    assert attempt.endpoint.startswith(attempt.tasks[0].address)

    @invariant()
    def a_result_is_for_ever(self) -> None:
        for record in self.store.jobs():
            if record.state.is_final:
                result = (record.state, record.reason)
                assert self.finals.setdefault(record.job_id, result) == result

    @invariant()
    def a_job_succeeds_only_if_every_node_did_and_fails_at_once(self) -> None:
        for record in self.store.jobs():
            states = [t.state for t in record.attempt.tasks] if record.attempt else []
            if record.state is JobState.SUCCEEDED:
                assert set(states) == {TaskState.SUCCEEDED}
            if record.state in {JobState.STARTING, JobState.RUNNING}:
                assert not set(states) & BAD
            if record.state is JobState.QUEUED:
                assert all(state.is_final for state in states)

    @invariant()
    def nobody_mixes_attempts(self) -> None:
        current = {r.job_id: r.attempt.attempt_id for r in self.store.jobs() if r.attempt}
        for agent in self.agents.values():
            for order in self.plane.orders(agent.offer().start).tasks:
                assert order.attempt_id == current[order.job_id]
            for order in agent.running.values():
                endpoint = self.endpoints.get(order.attempt_id)
                assert order.endpoint in {None, endpoint}


TestControlMachine = ControlMachine.TestCase
TestControlMachine.settings = settings(
    max_examples=60,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
