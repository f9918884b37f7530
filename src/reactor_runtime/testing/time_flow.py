"""TimeFlow: moves a fake clock just as far as a model under test needs it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from reactor_runtime.testing.bench_parts import BenchParts
from reactor_runtime.testing.viewers import Viewers

T = TypeVar("T")

# Seconds without a word after which a body is taken for one that asks for nothing, and waits by the
# machine's clock.
_PATIENCE_S = 0.01
# The same for a step that may wait for input: what is queued is shown meanwhile, and nothing else.
_STEP_PATIENCE_S = 0.05
# The same for a body that takes turns, which a busy machine may keep from asking: so many times in
# a row nothing is heard, and this loop at least was not kept from listening.
_LISTENING_S, _LISTENINGS, _ON_TIME_S = 0.1, 20, 0.15


class TimeFlow:
    """Lets steps run and time pass until something is there. Made and used on one event loop.

    Time stands still while a step computes and while a test waits for nothing; it moves to what the
    host waits for, or to when something is shown, whichever is sooner. So the same test sees the
    same frames at the same times, however fast the machine is.

    Args:
        parts: What is tested, and the clock that is moved.
        viewers: Whoever watches.
    """

    def __init__(self, parts: BenchParts, viewers: Viewers) -> None:
        self._clock, self._stream, self._turn = parts.clock, parts.stream, parts.turn
        self._news, self._viewers, self._line = parts.news, viewers, asyncio.Lock()

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
                while (there := self._look(found)) is None:
                    self._stream.let_go(may_step=may_step)
                    result = await self._hosts_turn(found, may_step, end_s)
                    if not isinstance(result, _Move):
                        return result
                    self._turn.hold()
                    await self._clock.advance_to(result.when_s)
                    self._viewers.time_moved()
                return there
            finally:
                self._turn.hold()

    def _look(self, found: Callable[[], T | None]) -> T | None:
        for frame in self._stream.take_due():
            self._viewers.deliver(frame)
        return found()

    async def _hosts_turn(
        self, found: Callable[[], T | None], may_step: bool, end_s: float | None
    ) -> "T | _Move":
        """Return what was found, or where to move the clock."""
        while True:
            self._news.clear()
            if (result := self._look(found)) is not None:
                return result
            if (when_s := self._wanted(may_step, end_s)) is not None:
                return _Move(when_s)
            if await self._hears() or not may_step:
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

    async def _hears(self) -> bool:
        """Wait for a word of the host; ``False`` when it seems that there will be none."""
        if self._turn.is_stepping:
            return await self._news.within(_STEP_PATIENCE_S)
        if not (self._viewers.are_there and self._turn.takes_turns):
            return await self._news.within(_PATIENCE_S)
        loop, calm = asyncio.get_running_loop(), 0
        while calm < _LISTENINGS:
            began = loop.time()
            if await self._news.within(_LISTENING_S):
                return True
            calm = calm + 1 if loop.time() - began < _ON_TIME_S else 0
        return False

    def _unasked(self, end_s: float | None) -> float | None:
        """Return where time goes when nobody says: on, as far as it did on the machine's clock."""
        due = self._stream.due_at()
        if self._turn.is_stepping:
            return due
        on = self._clock.now() + _PATIENCE_S if end_s is None else end_s
        if self._viewers.are_there:
            self._turn.takes_turns = False
        return on if due is None else min(on, due)


@dataclass(frozen=True, slots=True)
class _Move:
    """The clock is to go to *when_s*."""

    when_s: float
