"""Calling what an author wrote: sync or async, and whatever it raises."""

import asyncio
import inspect
from collections.abc import Callable
from types import GeneratorType
from typing import Any, Final

from reactor_runtime.author_text import text_of

_OURS: Final = "ended by the runtime"
_ADVICE: Final = {
    "cannot be called from a running event loop": "this method runs in the model's event loop; "
    "make it `async def` and await (load() and warmup() may call asyncio.run())",
    "This event loop is already running": "this method runs in the model's event loop; make it "
    "`async def` and await",
    "Cannot run the event loop while another loop is running": "this method runs in the model's "
    "event loop; make it `async def` and await (load() and warmup() may run a loop of their own)",
    "no running event loop": "make this method `async def`, which runs in the model's event loop",
}


async def settle(result: Any) -> Any:
    """Return *result*, awaited where it has to be."""
    # Most of what authors return is not awaited, and inspect takes a while to say so.
    may_wait = hasattr(type(result), "__await__") or isinstance(result, GeneratorType)
    return await result if may_wait and inspect.isawaitable(result) else result


async def attempt(
    function: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Any, BaseException | None]:
    """Call *function* and return what it returned, or what it raised.

    An author's ``sys.exit()``, ``KeyboardInterrupt`` or a cancellation that is not ``cancel``'s is
    a failure like any other: none may end the loop it runs on.
    """
    task = _this_task()
    outcome: tuple[Any, BaseException | None]
    try:
        outcome = await settle(function(*args, **kwargs)), None
    except asyncio.CancelledError as error:
        if is_ours(error):
            raise
        outcome = None, error
    except GeneratorExit as error:
        if _this_task() is not task:  # nobody raised it: this coroutine is being closed
            raise
        outcome = None, error
    except BaseException as error:  # noqa: BLE001 - author code: anything comes out
        outcome = None, with_advice(error)
    await outlive_cancellation()
    return outcome


def cancel(task: "asyncio.Task[Any]") -> None:
    """Cancel a task of the runtime's that runs author code. Authors cancel whatever they find."""
    task.cancel(_OURS)


def is_ours(error: asyncio.CancelledError) -> bool:
    """Return whether ``cancel`` caused *error*."""
    return error.args == (_OURS,)


async def outlive_cancellation() -> None:
    """Undo a cancellation of this task that was not ``cancel``'s, delivered yet or not."""
    task = _this_task()
    if task is None or not task.cancelling():
        return
    while task.uncancel():
        pass
    try:
        await asyncio.sleep(0)  # before Python 3.13 it is still to come
    except asyncio.CancelledError as error:
        if is_ours(error):
            raise


def _this_task() -> "asyncio.Task[Any] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs
        return None


def with_advice(error: BaseException) -> BaseException:
    """Return *error*, with a note on what to do where it is about the loop author code runs in."""
    if isinstance(error, RuntimeError) and not hasattr(error, "__notes__"):
        for words, advice in _ADVICE.items():
            if words in text_of(error):
                error.add_note(advice)
    return error
