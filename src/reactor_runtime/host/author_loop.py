"""AuthorLoop: a thread's asyncio loop, and author code called while it does not run.

Loading code may be written for a plain script and call ``asyncio.run()``, which a running loop on
the same thread forbids. So the loop runs only while something asynchronous is waited for.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from reactor_runtime.log import get_logger
from reactor_runtime.model.author_call import attempt, cancel, with_advice

log = get_logger(__name__)


def run_until_done(loop: asyncio.AbstractEventLoop, work: "asyncio.Future[Any]") -> Any:
    """Run *loop* until *work* is done, and return its result, whoever else ends the loop."""
    while not work.done():
        try:
            loop.run_until_complete(work)
        except BaseException as error:
            if loop.is_closed():
                raise
            if not _is_of(work, error):
                tell_of_end(error)
    return work.result()


def _is_of(work: "asyncio.Future[Any]", error: BaseException) -> bool:
    return work.done() and (work.cancelled() or work.exception() is error)


def tell_of_end(error: BaseException) -> None:
    """Log that author code ended the loop it runs on, which goes on."""
    if isinstance(error, RuntimeError):
        log.warning("model_loop_stopped", cause="author code stops a loop it did not start")
    else:
        log.error("background_task_failed", exc_info=error)


class AuthorLoop:
    """Used on the thread that *loop* belongs to; ``cancel`` on any.

    Args:
        loop: Not running.

    Attributes:
        loop: The same.
        context: Of everything that runs here: what author code sets in it, ``numpy.errstate``
            say, the code after it sees.
        is_cancelled: ``cancel`` was called.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.context = contextvars.copy_context()
        self.is_cancelled = False
        self._task: asyncio.Task[Any] | None = None

    def attempt(self, function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """Call *function* and return what it returned, awaited where it has to be, or raised.

        Raises:
            asyncio.CancelledError: ``cancel`` was called.
        """
        self._check()
        asyncio.set_event_loop(self.loop)  # an author's asyncio.run() takes it away
        try:
            result = self.context.run(function)
        except BaseException as error:  # noqa: BLE001 - author code: anything comes out
            return None, with_advice(error)
        if not inspect.isawaitable(result):
            return result, None
        outcome: tuple[Any, BaseException | None] = self.complete(attempt(lambda: result))
        return outcome

    def complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Return what *work* returns; the loop runs meanwhile.

        Raises:
            asyncio.CancelledError: ``cancel`` was called.
        """
        asyncio.set_event_loop(self.loop)
        self._task = self.loop.create_task(work, context=self.context)
        if self.is_cancelled:
            cancel(self._task)
        return run_until_done(self.loop, self._task)

    def cancel(self) -> None:
        """Cancel what runs; what would run later does not."""
        self.is_cancelled = True
        self.loop.call_soon_threadsafe(self._cancel_task)

    def _cancel_task(self) -> None:
        if self._task is not None:
            cancel(self._task)

    def _check(self) -> None:
        if self.is_cancelled:
            raise asyncio.CancelledError
