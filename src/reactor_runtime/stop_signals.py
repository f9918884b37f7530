"""StopSignals: SIGINT and SIGTERM ask the process to stop, and make sure that it does.

The first signal asks. A second one ends the process on the spot, with the status a shell gives a
process that died of it. A process that was asked and is still there when its grace is over is
ended too. All three are done by a thread that does nothing else: whatever thread the system hands
a signal to, and whatever the event loop or a step is stuck in, the interpreter writes the signal's
number into a pipe, and the thread reads it.
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
_BEGIN = b"\0"  # in the pipe: no signal has this number
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
        self._lock = threading.Lock()
        self._first: signal.Signals | None = None
        self._asked: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pipe = os.pipe()
        self._before: dict[signal.Signals, Any] = {}
        self._wakeup_before = -1

    def __enter__(self) -> Self:
        read_end, write_end = self._pipe
        os.set_blocking(write_end, False)
        self._wakeup_before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        self._before = {each: signal.signal(each, _ignore) for each in SIGNALS}
        threading.Thread(
            target=self._watch, args=(read_end,), name="reactor-stop", daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._pipe[1])  # ends the watch

    @property
    def first(self) -> signal.Signals | None:
        """The signal that asked, if one did."""
        return self._first

    async def wait(self) -> None:
        """Return once a signal has asked."""
        with self._lock:
            if self._asked is None:
                self._loop, self._asked = asyncio.get_running_loop(), asyncio.Event()
            if self._first is not None:
                self._asked.set()
        await self._asked.wait()

    def begin_grace(self) -> None:
        """Let the grace begin now, for an end that no signal asked for."""
        os.write(self._pipe[1], _BEGIN)

    def _watch(self, read_end: int) -> None:
        deadline: float | None = None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([read_end], [], [], left)[0]:
                _end(*self._late)
            numbers = os.read(read_end, 64)
            if not numbers:
                break
            for number in numbers:
                if number in SIGNALS:
                    self._hear(number)
                if (number in SIGNALS or number == _BEGIN[0]) and self._grace_s > 0:
                    deadline = deadline or time.monotonic() + self._grace_s
        os.close(read_end)

    def _hear(self, number: int) -> None:
        with self._lock:
            if self._first is not None:
                _end(128 + number, b"reactor: forced to stop\n")
            self._first = signal.Signals(number)
            if self._loop is not None and self._asked is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._asked.set)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Keep the system from ending the process; the pipe has the number."""


def _end(status: int, line: bytes) -> NoReturn:
    """End the process with a last line, unless nobody reads it."""
    if select.select([], [_STDERR], [], 0)[1]:
        os.write(_STDERR, line)
    os._exit(status)
