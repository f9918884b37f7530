import asyncio

from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.webrtc.message_budget import MessageBudget


async def test_a_seconds_worth_may_come_at_once() -> None:
    clock = FakeClock()
    budget = MessageBudget(clock, messages_per_s=100, bytes_per_s=1000)
    for _ in range(100):
        budget.spend(1)
    await budget.wait()
    assert budget.waits == 0


async def test_a_faster_peer_is_read_at_its_budget() -> None:
    clock = FakeClock()
    budget = MessageBudget(clock, messages_per_s=100, bytes_per_s=1000)
    read = 0

    async def read_all() -> None:
        nonlocal read
        while True:
            await budget.wait()
            budget.spend(1)
            read += 1

    reading = asyncio.create_task(read_all())
    await clock.advance(10)
    reading.cancel()
    assert 1_090 <= read <= 1_110


async def test_bytes_count_as_messages_do() -> None:
    clock = FakeClock()
    budget = MessageBudget(clock, messages_per_s=1000, bytes_per_s=1000)
    budget.spend(3000)
    waiting = asyncio.create_task(budget.wait())
    await clock.advance(1.9)
    assert not waiting.done()
    await clock.advance(0.2)
    assert waiting.done()
