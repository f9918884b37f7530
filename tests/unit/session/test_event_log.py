import asyncio

import pytest

from reactor_runtime.session.event_log import EventLog, LoggedEvent
from reactor_runtime.testing.fake_clock import FakeClock, settle


@pytest.fixture
def log() -> EventLog:
    return EventLog(FakeClock(), retained=4)


def fill(log: EventLog, count: int) -> None:
    for _ in range(count):
        log.append("command", "streaming", "streaming", name="go")


async def read_all(log: EventLog, since: int | None) -> list[int]:
    log.close()
    return [event.seq async for event in log.subscribe(since)]


def test_a_payload_is_what_operators_read(log: EventLog) -> None:
    logged = log.append("start_session", "ready", "waiting", params={})
    assert logged.seq == 1
    assert logged.payload == {
        "type": "transition",
        "event": "start_session",
        "from": "ready",
        "to": "waiting",
        "ts": 1_700_000_000_000,
        "detail": {"params": {}},
    }


@pytest.mark.parametrize(
    ("since", "seen"), [(0, [1, 2, 3]), (2, [3]), (3, []), (99, []), (-5, [1, 2, 3]), (None, [])]
)
async def test_what_is_replayed(log: EventLog, since: int | None, seen: list[int]) -> None:
    fill(log, 3)
    assert await read_all(log, since) == seen


async def test_only_the_newest_are_retained(log: EventLog) -> None:
    fill(log, 10)
    assert await read_all(log, 0) == [7, 8, 9, 10]


async def test_by_default_4096_are_retained() -> None:
    log = EventLog(FakeClock())
    fill(log, 5000)
    assert await read_all(log, 0) == list(range(905, 5001))


async def test_a_reader_gets_news_as_they_come(log: EventLog) -> None:
    seen: list[int] = []

    async def read() -> None:
        async for event in log.subscribe():
            seen.append(event.seq)

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(read())
        group.create_task(read())
        await settle()
        fill(log, 1)
        await settle()
        fill(log, 2)
        await settle()
        log.close()
    assert sorted(seen) == [1, 1, 2, 2, 3, 3]


async def test_a_slow_reader_loses_the_oldest_and_sees_a_gap(log: EventLog) -> None:
    reader = log.subscribe()
    fill(log, 2)
    first: LoggedEvent = await anext(reader)
    fill(log, 10)
    assert first.seq == 1
    assert (await anext(reader)).seq == 9  # 12 in all, 4 retained


async def test_a_subscription_counts_from_when_it_was_made(log: EventLog) -> None:
    reader = log.subscribe()
    fill(log, 1)
    assert (await anext(reader)).seq == 1
