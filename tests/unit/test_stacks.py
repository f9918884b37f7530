"""Where threads are, and where tasks wait, followed through every kind of awaiting."""

import asyncio
from collections.abc import AsyncIterator

from reactor_runtime.stacks import await_stack, thread_stacks


async def innermost(event: asyncio.Event) -> None:
    await event.wait()


async def generator(event: asyncio.Event) -> AsyncIterator[int]:
    await innermost(event)
    yield 1


async def through_anext(event: asyncio.Event) -> None:
    await anext(generator(event))


async def through_async_for(event: asyncio.Event) -> None:
    async for _ in generator(event):
        pass


async def seen(work: object) -> str:
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]
    await asyncio.sleep(0)
    text = await_stack(task)
    task.cancel()
    await asyncio.wait([task])
    return text


async def test_coroutines_and_generators_are_followed_to_the_end() -> None:
    event = asyncio.Event()
    assert "await event.wait()" in await seen(innermost(event))
    for work in (through_anext(event), through_async_for(event)):
        text = await seen(work)
        places = [text.index(name) for name in ("in through_", "in generator", "in innermost")]
        assert places == sorted(places)


async def test_a_task_that_has_ended_waits_nowhere() -> None:
    task = asyncio.ensure_future(asyncio.sleep(0))
    await task
    assert "waits at" in await_stack(task)


def test_stacks_are_found_by_the_threads_name() -> None:
    assert "test_stacks_are_found_by_the_threads_name" in thread_stacks()["MainThread"]
