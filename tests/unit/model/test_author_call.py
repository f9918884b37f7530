import asyncio

import pytest

from reactor_runtime.model.author_call import attempt, settle


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def test_sync_and_async_results_are_settled() -> None:
    assert await settle(1) == 1
    assert await settle(later(2)) == 2


async def test_an_attempt_returns_what_was_returned_or_raised() -> None:
    assert await attempt(later, 3) == (3, None)
    for error in (ValueError("x"), SystemExit(3), asyncio.CancelledError()):

        def fail(error: BaseException = error) -> None:
            raise error

        assert await attempt(fail) == (None, error)


async def test_a_cancellation_that_was_asked_for_is_heeded() -> None:
    task = asyncio.ensure_future(attempt(asyncio.Event().wait))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
