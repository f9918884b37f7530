"""Calling what an author wrote: sync or async, and whatever it raises."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


async def settle(result: Any) -> Any:
    """Return *result*, awaited where it has to be."""
    return await result if inspect.isawaitable(result) else result


async def attempt(
    function: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Any, BaseException | None]:
    """Call *function* and return what it returned, or what it raised.

    An author's ``sys.exit()`` or a cancellation that nobody asked of this task is a failure like
    any other: neither may end the loop it runs on.
    """
    try:
        return await settle(function(*args, **kwargs)), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - author code: anything comes out
        return None, error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
