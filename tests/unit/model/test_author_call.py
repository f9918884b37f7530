import asyncio

import pytest

from reactor_runtime.model.author_call import attempt, cancel, settle, with_advice


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def test_sync_and_async_results_are_settled() -> None:
    assert await settle(1) == 1
    assert await settle(later(2)) == 2


async def test_an_attempt_returns_what_was_returned_or_raised() -> None:
    assert await attempt(later, 3) == (3, None)
    for error in (
        ValueError("x"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
    ):

        def fail(error: BaseException = error) -> None:
            raise error

        assert await attempt(fail) == (None, error)


async def test_a_cancellation_that_was_asked_for_is_heeded() -> None:
    task = asyncio.ensure_future(attempt(asyncio.Event().wait))
    await asyncio.sleep(0)
    cancel(task)
    with pytest.raises(asyncio.CancelledError):
        await task


def test_an_attempt_that_is_closed_ends() -> None:
    waiting = attempt(lambda: later(1))
    waiting.send(None)
    waiting.close()
    with pytest.raises(RuntimeError, match="cannot reuse"):
        waiting.send(None)


@pytest.mark.parametrize("how", ["run", "run_until_complete", "this_loop"])
async def test_who_runs_a_loop_inside_the_loop_is_told_what_to_do(how: str) -> None:
    loop = asyncio.new_event_loop() if how == "run_until_complete" else asyncio.get_running_loop()
    coroutine = later(1)
    run = asyncio.run if how == "run" else loop.run_until_complete
    _, error = await attempt(run, coroutine)
    coroutine.close()
    if how == "run_until_complete":
        loop.close()
    assert isinstance(error, RuntimeError)
    assert "`async def` and await" in error.__notes__[0]


def test_who_needs_a_loop_where_none_runs_is_told_what_to_do() -> None:
    error = with_advice(RuntimeError("no running event loop"))
    assert "`async def`" in error.__notes__[0]
    assert with_advice(error).__notes__ == error.__notes__
    assert not hasattr(with_advice(RuntimeError("something else")), "__notes__")
