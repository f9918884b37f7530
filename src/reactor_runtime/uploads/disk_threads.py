"""DiskThreads: where files are read and written, so that a slow disk delays nobody else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

from reactor_runtime.errors import UploadStorageError

_THREADS: Final = 4

T = TypeVar("T")


class DiskThreads:
    """A few threads that begin when there is something to do. Used from the event loop."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_THREADS, "reactor-uploads")
        self._is_closed = False

    def run(self, work: Callable[..., T], *given: Any) -> asyncio.Future[T]:
        """Do *work* and return what comes of it; nobody has to look at that.

        Raises:
            UploadStorageError: They are closed.
        """
        if self._is_closed:
            raise UploadStorageError("the server is shutting down")
        future = asyncio.get_running_loop().run_in_executor(self._executor, work, *given)
        future.add_done_callback(_look_at)
        return future

    def post(self, work: Callable[..., object], *given: Any) -> None:
        """Do *work* some time; nothing happens once they are closed."""
        if not self._is_closed:
            self.run(work, *given)

    async def close(self, last: Callable[[], object], timeout_s: float) -> None:
        """Do one thing more, and wait for it at most *timeout_s*. Idempotent."""
        if self._is_closed:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.run(last)
        self._is_closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)


def _look_at(future: asyncio.Future[Any]) -> None:
    """Take note of a failure: it has been dealt with, or there is nobody left to mind."""
    if not future.cancelled():
        future.exception()
