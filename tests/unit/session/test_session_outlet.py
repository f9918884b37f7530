"""The crossing from the host's threads to the event loop."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from tests.waiting import until

from reactor_runtime.host.host_outlet import (
    CommandReply,
    OutboundMessage,
    RankTiming,
    StepReport,
)
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.mailbox import HostClosed, HostOpened, HostReport
from reactor_runtime.session.session_outlet import MAX_QUEUED_MESSAGES, SessionOutlet
from reactor_runtime.testing.fake_clock import FakeClock


class Ear:
    """Hears, and remembers on which thread."""

    def __init__(self) -> None:
        self.heard: list[HostReport] = []
        self.threads: set[int] = set()

    def hear(self, report: HostReport) -> None:
        self.heard.append(report)
        self.threads.add(threading.get_ident())


def message(n: int) -> OutboundMessage:
    return OutboundMessage(name="tick", body={"n": n}, client_id=None)


async def in_thread(work: Callable[[], None]) -> None:
    await asyncio.get_running_loop().run_in_executor(None, work)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def outlet(metrics: Metrics) -> SessionOutlet:
    return SessionOutlet(None, clock=FakeClock(), metrics=metrics)


async def test_everything_arrives_on_the_loop_in_order(outlet: SessionOutlet) -> None:
    ear = Ear()
    outlet.bind(ear, asyncio.get_running_loop())

    def work() -> None:
        outlet.session_opened("s")
        for n in range(3000):
            outlet.message(message(n))
        outlet.reply(CommandReply(call_id=1, client_id="c"))
        outlet.session_closed("s")

    await in_thread(work)
    await until(lambda: len(ear.heard) == 3003)
    assert ear.threads == {threading.get_ident()}
    assert ear.heard[0] == HostOpened(session_id="s")
    assert ear.heard[1:-2] == [message(n) for n in range(3000)]
    assert ear.heard[-1] == HostClosed(session_id="s")


async def test_several_threads_lose_nothing(outlet: SessionOutlet) -> None:
    ear = Ear()
    outlet.bind(ear, asyncio.get_running_loop())

    def work() -> None:
        for n in range(500):
            outlet.message(message(n))

    await asyncio.gather(*(in_thread(work) for _ in range(8)))
    await until(lambda: len(ear.heard) == 4000)


async def test_a_message_is_on_its_way_before_the_chunk_after_it(outlet: SessionOutlet) -> None:
    ear = Ear()
    loop = asyncio.get_running_loop()
    outlet.bind(ear, loop)
    heard_at_packet: list[int] = []

    def work() -> None:
        for n in range(100):
            outlet.message(message(n))
            # What the media thread does with the packets of the chunk that follows.
            loop.call_soon_threadsafe(lambda: heard_at_packet.append(len(ear.heard)))

    await in_thread(work)
    await until(lambda: len(heard_at_packet) == 100)
    assert all(heard >= n + 1 for n, heard in enumerate(heard_at_packet))


async def test_a_flood_of_messages_leaves_the_loop_breath(outlet: SessionOutlet) -> None:
    ear = Ear()
    outlet.bind(ear, asyncio.get_running_loop())
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while len(ear.heard) < 5000:
            await asyncio.sleep(0)
            ticks += 1

    for n in range(5000):
        outlet.message(message(n))
    await asyncio.wait_for(tick(), 5)
    assert ticks >= 5


async def test_an_author_who_never_stops_is_cut_and_counted(
    outlet: SessionOutlet, metrics: Metrics
) -> None:
    ear = Ear()
    outlet.bind(ear, asyncio.get_running_loop())
    for n in range(MAX_QUEUED_MESSAGES + 10):
        outlet.message(message(n))
    outlet.reply(CommandReply(call_id=1, client_id="c"))  # an answer is never dropped
    await until(lambda: len(ear.heard) == MAX_QUEUED_MESSAGES + 1)
    rendered = metrics.render()
    assert b'reactor_messages_dropped_total{reason="author_too_fast"} 10.0' in rendered


def test_after_the_loop_is_closed_nothing_happens(outlet: SessionOutlet) -> None:
    loop = asyncio.new_event_loop()
    outlet.bind(Ear(), loop)
    loop.close()
    outlet.message(message(0))


def test_before_it_is_bound_nothing_is_lost(outlet: SessionOutlet) -> None:
    outlet.session_opened("early")
    ear = Ear()

    async def run() -> None:
        outlet.bind(ear, asyncio.get_running_loop())
        await until(lambda: len(ear.heard) == 1)

    asyncio.run(run())


def test_without_output_tracks_there_is_always_room() -> None:
    clock = FakeClock(now_s=5.0)
    outlet = SessionOutlet(None, clock=clock, metrics=Metrics())
    assert outlet.step_at(1) == 5.0
    assert outlet.has_room(10**6)
    outlet.on_room(lambda: None)
    outlet.flush()
    outlet.set_fps(24.0)


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        ({}, "ok"),
        ({"idle": True}, "idle"),
        ({"refused": True}, "refused"),
        ({"error": "x"}, "error"),
    ],
)
def test_steps_are_counted(
    outlet: SessionOutlet, metrics: Metrics, report: dict[str, object], outcome: str
) -> None:
    step = StepReport(session_id="s", number=1, step_s=0.1, apply_s=0.0, wait_s=0.0, **report)  # type: ignore[arg-type]
    outlet.step_done(step)
    assert outlet.last_step is step
    assert f'reactor_steps_total{{outcome="{outcome}"}} 1.0'.encode() in metrics.render()


async def test_ten_thousand_replies_a_second_cost_little(outlet: SessionOutlet) -> None:
    ear = Ear()
    outlet.bind(ear, asyncio.get_running_loop())
    began = time.process_time()
    for n in range(10_000):
        outlet.reply(CommandReply(call_id=n, client_id="c"))
    await until(lambda: len(ear.heard) == 10_000)
    assert time.process_time() - began < 0.5


def test_where_the_time_of_a_step_on_ranks_went_is_counted(
    outlet: SessionOutlet, metrics: Metrics
) -> None:
    ranks = RankTiming(
        broadcast_s=0.001, compute_s=(0.02, 0.05), collect_s=0.06, place_s=0.0, copy_s=0.004,
        room_s=0.03,
    )  # fmt: skip
    told = {"session_id": "s", "step_s": 0.1, "apply_s": 0.0, "wait_s": 0.03}
    for number in range(2):
        outlet.step_done(StepReport(number=number, ranks=ranks, **told))  # type: ignore[arg-type]
    rendered = metrics.render().decode()
    for line in (
        "reactor_rank_broadcast_seconds_sum 0.002",
        'reactor_rank_compute_seconds_sum{rank="0"} 0.04',
        'reactor_rank_compute_seconds_sum{rank="1"} 0.1',
        'reactor_rank_slowest_total{rank="1"} 2.0',
        "reactor_rank_collect_seconds_sum 0.12",
        "reactor_rank_copy_seconds_sum 0.008",
        "reactor_rank_room_seconds_sum 0.06",
    ):
        assert line in rendered
