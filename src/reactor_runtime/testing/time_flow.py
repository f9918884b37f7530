"""TimeFlow: moves a fake clock just as far as a model under test needs it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from reactor_runtime.testing.captured_stream import CapturedStream
from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.testing.host_turn import HostTurn
from reactor_runtime.testing.received import Frame

T = TypeVar("T")

# Seconds without a word after which a body is taken for one that asks for nothing, and waits by the
# machine's clock: long for one that takes turns, which a busy machine may keep from asking.
_PATIENCE_S = 2.0
_SHORT_PATIENCE_S = 0.01
# The same for a step that may wait for input: what is queued is shown meanwhile, and nothing else.
_STEP_PATIENCE_S = 0.05


class TimeFlow:
    """Lets steps run and time pass until something is there. Made and used on one event loop.

    Time stands still while a step computes and while a test waits for nothing; it moves to what the
    host waits for, or to when something is shown, whichever is sooner. So the same test sees the
    same frames at the same times, however fast the machine is.

    Args:
        clock: What is moved.
        stream: Where the model's frames come out.
        turn: What the host waits for.
        news: Told whenever there may be something to do.
        viewers: Whoever watches.
    """

    def __init__(
        self,
        clock: FakeClock,
        stream: CapturedStream,
        turn: HostTurn,
        news: "News",
        viewers: "Viewers",
    ) -> None:
        self._clock, self._stream, self._turn = clock, stream, turn
        self._news, self._viewers, self._line = news, viewers, asyncio.Lock()

    async def until(self, found: Callable[[], T | None], end_s: float | None = None) -> T:
        """Let steps run and time pass until *found* returns something, and return it.

        Args:
            found: Asked whenever something has happened.
            end_s: A time that *found* waits for, if it does.
        """
        return await self._wait(found, may_step=True, end_s=end_s)

    async def until_answered(self, found: Callable[[], T | None]) -> T:
        """Return what *found* returns once it does; no step begins, a running one may end."""
        return await self._wait(found, may_step=False)

    async def _wait(
        self, found: Callable[[], T | None], *, may_step: bool, end_s: float | None = None
    ) -> T:
        async with self._line:
            try:
                while True:
                    self._stream.let_go(may_step=may_step)
                    result = await self._hosts_turn(found, may_step, end_s)
                    if not isinstance(result, _Move):
                        return result
                    self._turn.hold()
                    await self._clock.advance_to(result.when_s)
                    self._viewers.time_moved()
            finally:
                self._turn.hold()

    async def _hosts_turn(
        self, found: Callable[[], T | None], may_step: bool, end_s: float | None
    ) -> "T | _Move":
        """Return what was found, or where to move the clock."""
        while True:
            self._news.clear()
            for frame in self._stream.take_due():
                self._viewers.deliver(frame)
            if (result := found()) is not None:
                return result
            if (when_s := self._wanted(may_step, end_s)) is not None:
                return _Move(when_s)
            if await self._news.within(self._patience_s) or not may_step:
                continue
            if (when_s := self._unasked(end_s)) is not None:
                return _Move(when_s)

    def _wanted(self, may_step: bool, end_s: float | None) -> float | None:
        """Return the time everybody waits for, ``None`` while somebody does not."""
        turn = self._turn
        wants_at = turn.wants_at
        if wants_at is None and (turn.is_stepping or not turn.has_spoken or not may_step):
            return None
        times = (wants_at, self._stream.due_at(), end_s)
        return min((at for at in times if at is not None), default=None)

    @property
    def _patience_s(self) -> float:
        if self._turn.is_stepping:
            return _STEP_PATIENCE_S
        may_ask = self._viewers.are_there and self._turn.takes_turns
        return _PATIENCE_S if may_ask else _SHORT_PATIENCE_S

    def _unasked(self, end_s: float | None) -> float | None:
        """Return where time goes when nobody says: on, as far as it did on the machine's clock."""
        due = self._stream.due_at()
        if self._turn.is_stepping:
            return due
        on = self._clock.now() + self._patience_s if end_s is None else end_s
        if self._viewers.are_there:
            self._turn.takes_turns = False
        return on if due is None else min(on, due)


class Viewers(Protocol):
    """The clients of a model under test."""

    @property
    def are_there(self) -> bool:
        """Whether there is one: without, no step runs."""
        ...

    def deliver(self, frame: Frame) -> None:
        """Take a frame whose time has come."""
        ...

    def time_moved(self) -> None:
        """Note that time has moved."""
        ...


class News:
    """Tells one waiting task of a loop, from any thread, to look again. Made on that loop."""

    def __init__(self) -> None:
        self._loop, self._come = asyncio.get_running_loop(), asyncio.Event()

    def tell(self) -> None:
        """Have the one who waits look again."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._come.set)

    def clear(self) -> None:
        """Forget what was told."""
        self._come.clear()

    async def within(self, seconds: float) -> bool:
        """Wait to be told; ``False`` when it does not happen within *seconds*."""
        try:
            async with asyncio.timeout(seconds):
                await self._come.wait()
        except TimeoutError:
            return False
        return True


class _Move:
    """The clock is to go to *when_s*."""

    def __init__(self, when_s: float) -> None:
        self.when_s = when_s
