"""HostThread: one daemon thread that runs a function to its end, away from any loop."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable


class HostThread:
    """Runs *work*; a thread that is stuck is given up and dies with the process.

    Attributes:
        name: The thread's name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._thread: threading.Thread | None = None
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()

    def start(self, work: Callable[[], None]) -> None:
        """Run *work*, which must raise nothing: nobody would handle it."""
        self._thread = threading.Thread(target=self._run, args=(work,), name=self.name, daemon=True)
        self._thread.start()

    @property
    def ident(self) -> int | None:
        """The thread's number; ``None`` when it has ended, or not begun."""
        if self._thread is None or not self._thread.is_alive():
            return None
        return self._thread.ident

    async def join(self, timeout_s: float | None) -> bool:
        """Wait for the end; ``False`` when it did not come within *timeout_s* seconds."""
        if self._thread is None:
            return True
        ended = asyncio.wrap_future(self._ended)
        await asyncio.wait([ended], timeout=timeout_s)
        if not ended.done():
            return False
        self._thread.join(1.0)
        return True

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            self._ended.set_result(None)
