"""LoopThread: an event loop on a thread of its own, so that a test may be an ordinary function."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from reactor_runtime.errors import ReactorError

T = TypeVar("T")

_JOIN_S = 5.0


class LoopThread:
    """Runs coroutines for another thread, one loop for all of them.

    Args:
        name: The thread's name.
    """

    def __init__(self, name: str) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread, once."""
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what *work* returns on the loop, or raise what it raises.

        *work* bounds itself: nothing here ends it.

        Raises:
            TypeError: This is the loop's own thread, which cannot wait for itself.
        """
        __tracebackhide__ = True
        if self._is_here():
            work.close()
            raise TypeError("a condition looks at what there is, it cannot wait for the model")
        done = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return done.result()
        except ReactorError as error:
            raise error.with_traceback(None)  # noqa: B904 - the same one, less our own frames
        except BaseException:
            done.cancel()  # interrupted from the keyboard: nobody waits for it any more
            raise

    def do(self, function: Callable[[], T]) -> T:
        """Return what *function* returns on the loop."""
        __tracebackhide__ = True
        if self._is_here():
            return function()

        async def work() -> T:
            return function()

        return self.call(work())

    def settle(self, work: Coroutine[Any, Any, None]) -> None:
        """Have *work* done, unless this is the loop's own thread: then things are as they are."""
        if self._is_here():
            work.close()
        else:
            self.call(work)

    def stop(self) -> None:
        """End the thread and close the loop. Idempotent."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_JOIN_S)

    def _is_here(self) -> bool:
        return threading.current_thread() is self._thread

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()
