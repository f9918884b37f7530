"""Waiters: coroutines of any loop, woken from any thread."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Waiters:
    """Those who wait for the same thing. Bound to no loop: may be made before there is one."""

    def __init__(self) -> None:
        self._places: set[asyncio.Future[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._places)

    @contextmanager
    def place(self) -> Iterator[asyncio.Future[None]]:
        """Hold a place in line: a future done at the next ``wake``.

        Take the place first, then look whether there is anything to wait for; nothing is missed.
        """
        future = asyncio.get_running_loop().create_future()
        self._places.add(future)
        try:
            yield future
        finally:
            self._places.discard(future)

    def wake(self) -> None:
        """Let everybody who waits look again."""
        for future in self._places.copy():
            future.get_loop().call_soon_threadsafe(_resolve, future)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
