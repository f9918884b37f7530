"""Whatever comes in whatever order: each call is answered once, each session closed once."""

import asyncio
import random

import pytest
from tests.contract.model_host.recording_outlet import Closed, Opened, RecordingOutlet
from tests.contract.model_host.stage import Stage
from tests.models import does_anything

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.host_outlet import CommandReply, HostFailure
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.model.reactor_model import ReactorModel

BODIES = (
    does_anything.Yields,
    does_anything.Steps,
    does_anything.TakesTurns,
    does_anything.RunsFree,
)
EVENTS = 120


class Fate:
    """Draws what happens next, of what may happen now."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage, self.chance = stage, random.Random(seed)
        self.session: str | None = None
        self.clients: list[str] = []
        self.calls: list[int] = []
        self.withdrawn: set[int] = set()
        self.count = 0

    async def go_on(self) -> None:
        self.count += 1
        if any(f.session_id == self.session for f in self.stage.outlet.of(HostFailure)):
            self.session, self.clients = None, []
        draw = self.chance.choices
        (happening,) = draw(
            [self.start, self.end, self.join, self.leave, self.call, self.withdraw, self.push,
             self.make_room, self.wait],
            [6, 4, 10, 7, 28, 5, 15, 10, 15],
        )  # fmt: skip
        await happening()

    async def start(self) -> None:
        if self.session is None:
            self.session = f"s{self.count}"
            self.stage.start(self.session)

    async def end(self) -> None:
        if self.session is not None:
            self.stage.end(self.session)
            self.session, self.clients = None, []

    async def join(self) -> None:
        if self.session is not None and len(self.clients) < 3:
            self.clients.append(f"c{self.count}")
            self.stage.join(self.clients[-1])

    async def leave(self) -> None:
        if self.clients:
            self.stage.leave(self.clients.pop(0))

    async def call(self) -> None:
        client = self.clients[0] if self.clients else "nobody"
        if self.chance.random() < 0.5:
            call_id = self.stage.call("act", client, turns=self.chance.randint(0, 3))
        else:
            call_id = self.stage.call("set_level", client, level=self.count)
        self.calls.append(call_id)

    async def withdraw(self) -> None:
        if self.calls:
            call_id = self.chance.choice(self.calls)
            if self.stage.host.withdraw(call_id):
                self.withdrawn.add(call_id)

    async def push(self) -> None:
        self.stage.push("camera", does_anything.picture().main_video)

    async def make_room(self) -> None:
        self.stage.outlet.give_room(self.chance.randint(1, 4))

    async def wait(self) -> None:
        await asyncio.sleep(self.chance.random() / 100)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("body", BODIES)
async def test_every_call_is_answered_once_and_every_session_closed_once(
    body: type[ReactorModel], seed: int
) -> None:
    does_anything.CHANCE.seed(seed)
    outlet = RecordingOutlet()
    outlet.room = 3
    async with InProcessHost(body, outlet=outlet, settings=HostSettings()) as host:
        fate = Fate(Stage(host, outlet), seed)
        try:
            for _ in range(EVENTS):
                await fate.go_on()
        except HostClosedError:  # three sessions in a row may fail: that is the end of it
            assert any(failure.fatal for failure in outlet.of(HostFailure))
        outlet.give_room(1000)
    answered = [reply.call_id for reply in outlet.of(CommandReply)]
    assert len(answered) == len(set(answered))
    assert set(answered) == set(fate.calls) - fate.withdrawn
    closed = [report.session_id for report in outlet.of(Closed)]
    assert len(closed) == len(set(closed))
    assert {report.session_id for report in outlet.of(Opened)} <= set(closed)
