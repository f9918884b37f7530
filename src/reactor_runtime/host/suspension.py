"""Suspension: what a rank's running verb waits for that only the host can give."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from reactor_runtime.host.rank_messages import Agreed, InputGiven, WantsAgreement, WantsInput

# Rounds of the loop after which whoever can go on has gone on.
_ROUNDS = 4


class Suspension:
    """Used on a rank's loop. Reads and agreements register here and wait.

    Args:
        on_input: Called with what the host gives to reads that wait.

    Attributes:
        changed: Set when somebody begins to wait.
    """

    def __init__(self, on_input: Callable[[InputGiven], None]) -> None:
        self.changed = asyncio.Event()
        self._on_input = on_input
        self._numbers = itertools.count(1)
        self._timers: dict[int, tuple[asyncio.Timeout, float]] = {}
        self._starved = 0
        self._agreement: asyncio.Future[str | None] | None = None
        self._refusal: str | None = None

    @property
    def is_asking(self) -> bool:
        """Whether somebody waits for the host."""
        return bool(self._starved) or self._agreement is not None

    @contextmanager
    def starved(self) -> Iterator[None]:
        """Wait, inside, for input."""
        self._starved += 1
        self.changed.set()
        try:
            yield
        finally:
            self._starved -= 1

    def time_out(self, seconds: float | None) -> "HostTimeout":
        """Return the bound of a read; the host measures the seconds."""
        return HostTimeout(self, seconds)

    async def agree(self, refusal: str | None) -> str | None:
        """Return why any rank refuses the step; ``None`` when none does."""
        self._refusal = refusal
        self._agreement = asyncio.get_running_loop().create_future()
        self.changed.set()
        try:
            return await self._agreement
        finally:
            self._agreement = None

    async def until_asking(self, done: "asyncio.Future[Any]") -> bool:
        """Return ``True`` once somebody waits for the host, ``False`` once *done* is."""
        done.add_done_callback(lambda _: self.changed.set())
        while not done.done():
            if self.is_asking:
                for _ in range(_ROUNDS):
                    await asyncio.sleep(0)
                if self.is_asking:
                    break
            else:
                self.changed.clear()
                await self.changed.wait()
        return not done.done()

    def question(self) -> WantsInput | WantsAgreement:
        """Return what is waited for."""
        if self._agreement is not None:
            return WantsAgreement(self._refusal)
        return WantsInput(tuple((n, seconds) for n, (_, seconds) in self._timers.items()))

    async def answer(self, given: InputGiven | Agreed) -> None:
        """Let those who wait go on."""
        if isinstance(given, Agreed):
            if self._agreement is not None:
                self._agreement.set_result(given.refusal)
            return
        self._on_input(given)
        for number in given.expired:
            if number in self._timers:
                bound, _ = self._timers[number]
                bound.reschedule(0.0)

    def begin_timer(self, bound: asyncio.Timeout, seconds: float) -> int:
        """Let the host measure *seconds* for *bound*."""
        number = next(self._numbers)
        self._timers[number] = (bound, seconds)
        return number

    def end_timer(self, number: int) -> None:
        """Forget a bound."""
        self._timers.pop(number, None)


class HostTimeout:
    """``asyncio.timeout`` by the host's clock, alike on every rank."""

    def __init__(self, suspension: Suspension, seconds: float | None) -> None:
        self._suspension, self._seconds = suspension, seconds
        self._bound = asyncio.timeout(None)
        self._number = 0

    async def __aenter__(self) -> None:
        await self._bound.__aenter__()
        if self._seconds is not None:
            self._number = self._suspension.begin_timer(self._bound, self._seconds)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._suspension.end_timer(self._number)
        await self._bound.__aexit__(kind, error, traceback)
