"""Calls from any thread onto an event loop that may be closed by then."""

import asyncio
from collections.abc import Callable
from contextlib import suppress


def call_soon(
    loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *given: object
) -> None:
    """Call *callback* on *loop* soon; where that is closed nobody is left to tell."""
    with suppress(RuntimeError):  # asyncio's word for a closed loop
        loop.call_soon_threadsafe(callback, *given)
