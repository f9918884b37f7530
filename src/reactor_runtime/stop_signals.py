"""StopSignals: SIGINT and SIGTERM ask the process to stop, and make sure that it does.

The first signal asks. A second one ends the process on the spot, with the status a shell gives a
process that died of it. A process that was asked and is still there when its grace is over is
ended by a thread that waits for nothing else, whatever the event loop or a step is stuck in.
"""

import asyncio
import os
import select
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STDERR = 2


class StopSignals:
    """Use it as a context manager on the main thread.

    Args:
        grace_s: Seconds from the request to stop until the process is ended; 0 for no bound.
        late_status: The exit status then.
        late_line: What is left on standard error then.
    """

    def __init__(self, grace_s: float, late_status: int, late_line: str) -> None:
        self._grace_s = grace_s
        self._late = (late_status, late_line.encode() + b"\n")
        self._first: signal.Signals | None = None
        self._asked: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake_read, self._wake_write = os.pipe()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="reactor-stop", daemon=True).start()
        self._before = {each: signal.signal(each, self._hear) for each in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        os.close(self._wake_write)  # ends the watch

    @property
    def first(self) -> signal.Signals | None:
        """The signal that asked, if one did."""
        return self._first

    async def wait(self) -> None:
        """Return once a signal has asked."""
        if self._asked is None:
            self._loop, self._asked = asyncio.get_running_loop(), asyncio.Event()
            if self._first is not None:
                self._asked.set()
        await self._asked.wait()

    def begin_grace(self) -> None:
        """Let the grace begin now, for an end that no signal asked for."""
        os.write(self._wake_write, b"!")

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        # Runs between two instructions of the main thread: nothing in it may wait for a lock.
        if self._first is not None:
            _end(128 + number, b"forced to stop\n")
        self._first = signal.Signals(number)
        os.write(self._wake_write, b"!")
        if self._loop is not None and self._asked is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._asked.set)

    def _watch(self) -> None:
        deadline: float | None = None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._wake_read], [], [], left)
            if not ready:
                _end(*self._late)
            if not os.read(self._wake_read, 1):
                break
            if deadline is None and self._grace_s > 0:
                deadline = time.monotonic() + self._grace_s
        os.close(self._wake_read)


def _end(status: int, line: bytes) -> NoReturn:
    """End the process with a last line, unless nobody reads it."""
    if select.select([], [_STDERR], [], 0)[1]:
        os.write(_STDERR, line)
    os._exit(status)
