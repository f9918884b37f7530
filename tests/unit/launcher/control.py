"""A control plane on a clock that the test moves, and what agents would say to it."""

from pathlib import Path
from typing import Any

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
from reactor_runtime.launcher.control_plane import ControlPlane, ControlSettings
from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.job_record import JobRecord
from reactor_runtime.launcher.job_store import JobStore

SETTINGS = ControlSettings(
    heartbeat_s=1, heartbeat_limit_s=5, control_timeout_s=60, stop_grace_s=10
)
SOURCE = "0" * 64
ENDPOINT = "10.0.0.1:4000"
Body = Published | Started | Ended | Delivered


class HandClock:
    """Time that only the test moves; the wall clock is moved on its own."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.wall_time = 1_700_000_000.0

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return self.wall_time

    async def sleep_until(self, when_s: float) -> None:
        raise NotImplementedError


class Control:
    """One control plane over its restarts."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        self.path = path
        self.clock = HandClock()
        self.store = JobStore(path)
        self.plane = ControlPlane(self.store, self.clock, SETTINGS)
        self.offers: dict[str, NodeOffer] = {}
        self._numbers: dict[tuple[str, int], int] = {}

    def close(self) -> None:
        self.store.close()

    def restart(self) -> None:
        self.store.close()
        self.clock.time = 5.0  # monotonic clocks begin anywhere
        self.store = JobStore(self.path)
        self.plane = ControlPlane(self.store, self.clock, SETTINGS)

    def agent(self, name: str, procs: int = 2, incarnation: str = "1", **more: Any) -> NodeOffer:
        offer = NodeOffer(
            agent_id=name,
            incarnation=incarnation,
            home=more.pop("home", f"folder of {name}"),
            host_id=more.pop("host_id", name),
            address=more.pop("address", f"10.0.0.{len(self.offers) + 1}"),
            interface="eth0",
            procs=procs,
            **more,
        )
        self.offers[name] = offer
        self.plane.register(offer)
        return offer

    def submit(self, **more: Any) -> JobRecord:
        spec: dict[str, Any] = {"name": "j", "num_workers": 2, "entrypoint": "t.py", **more}
        submission = Submission(job=DistributedJob.model_validate(spec), source=SOURCE)
        return self.plane.submit(submission)

    def orders(self, agent: str) -> tuple[TaskOrder, ...]:
        return self.plane.orders(self.offers[agent].start).tasks

    def order(self, agent: str) -> TaskOrder | None:
        tasks = self.orders(agent)
        return tasks[0] if tasks else None

    def say(self, order: TaskOrder, agent: str, body: Body, number: int | None = None) -> Report:
        last = self._numbers.get(order.key, 0) + 1
        self._numbers[order.key] = last
        report = Report(
            agent_id=agent,
            incarnation=self.offers[agent].incarnation,
            job_id=order.job_id,
            attempt_id=order.attempt_id,
            node_rank=order.node_rank,
            number=number or last,
            body=body,
        )
        self.plane.report(report)
        return report

    def beat(self, *agents: str) -> None:
        for name in agents:
            offer = self.offers[name]
            self.plane.beat(Beat(agent_id=name, incarnation=offer.incarnation))

    def pass_time(self, seconds: float, *alive: str, step_s: float = 0.5) -> None:
        """Move the clock in steps, as a control plane that is awake sees it."""
        until = self.clock.time + seconds
        while self.clock.time < until:
            self.clock.time = min(until, self.clock.time + step_s)
            self.beat(*alive)
            self.plane.tick()

    def run(self, record: JobRecord) -> list[tuple[TaskOrder, str]]:
        """Have every node of a job start, and return their orders and agents."""
        attempt = self.plane.job(record.job_id).attempt
        assert attempt is not None
        agents = [task.agent_id for task in attempt.tasks]
        first = self.order(agents[0])
        assert first is not None
        self.say(first, agents[0], Published(endpoint=ENDPOINT))
        orders = [
            (order, agent)
            for agent in agents
            for order in self.orders(agent)
            if order.job_id == record.job_id
        ]
        for order, agent in orders:
            self.say(order, agent, Started())
        return orders

    def end(self, order: TaskOrder, agent: str, outcome: Outcome, *failures: RankFailure) -> None:
        self.say(order, agent, Ended(outcome=outcome, failures=failures))
        self.say(order, agent, Delivered())
