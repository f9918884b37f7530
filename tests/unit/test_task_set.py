import asyncio

import pytest
from tests.unit.session.room import settle
from tests.waiting import until

from reactor_runtime.task_set import TaskSet


async def test_a_failed_task_is_logged_once_and_takes_nothing_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = TaskSet()

    async def fail() -> None:
        raise ValueError("on purpose")

    tasks.spawn(fail(), "failing")
    staying = tasks.spawn(asyncio.Event().wait(), "staying")
    await until(lambda: len(tasks) == 1)
    assert caplog.text.count("task_failed") == 1
    assert not staying.done()
    await tasks.close(1)
    assert staying.cancelled()
    await tasks.close(1)


async def test_closing_from_within_spares_the_caller() -> None:
    tasks = TaskSet()
    done = asyncio.Event()

    async def close() -> None:
        await tasks.close(1)
        done.set()

    tasks.spawn(asyncio.Event().wait(), "other")
    tasks.spawn(close(), "closer")
    async with asyncio.timeout(5):
        await done.wait()


async def test_a_task_that_will_not_end_does_not_hold_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = TaskSet()
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    tasks.spawn(stubborn(), "stubborn")
    await settle()
    await tasks.close(0.01)
    assert "task_stuck" in caplog.text
    release.set()
    await settle()
