"""FakeClock: time that moves when a test says so."""

import asyncio
import heapq
import itertools
import threading
from contextlib import suppress

_SETTLE_ROUNDS = 20


class FakeClock:
    """Implements ``Clock``. Any thread may look and sleep; ``advance`` is the one thing to move it.

    Args:
        now_s: Monotonic seconds it begins with.
        wall_s: Epoch seconds it begins with.
    """

    def __init__(self, now_s: float = 1000.0, wall_s: float = 1_700_000_000.0) -> None:
        self._now_s, self._wall_s = now_s, wall_s
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._lock = threading.Lock()

    def now(self) -> float:
        """Return monotonic seconds."""
        return self._now_s

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return self._wall_s

    async def sleep_until(self, when_s: float) -> None:
        """Return once ``now()`` has reached *when_s*."""
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            is_over = when_s <= self._now_s
            if not is_over:
                heapq.heappush(self._sleepers, (when_s, next(self._numbers), awake))
        await (asyncio.sleep(0) if is_over else awake)

    async def advance(self, seconds: float) -> None:
        """Move time on, waking each sleeper at its time, and let what they do be done."""
        await self.advance_to(self._now_s + seconds)

    async def advance_to(self, when_s: float) -> None:
        """Move time on to *when_s* monotonic seconds; see ``advance``."""
        await settle()
        while (awake := self._next_awake(when_s)) is not None:
            _wake(awake)
            await settle()
        await settle()

    def jump(self, seconds: float) -> None:
        """Move time on without waking anybody: the process stood still."""
        with self._lock:
            self._move_to(self._now_s + seconds)

    def _next_awake(self, when_s: float) -> "asyncio.Future[None] | None":
        """Move to the next sleeper's time and return it; to *when_s* where there is none."""
        with self._lock:
            while self._sleepers and self._sleepers[0][0] <= when_s:
                due_s, _, awake = heapq.heappop(self._sleepers)
                self._move_to(max(due_s, self._now_s))
                if not awake.done():
                    return awake
            self._move_to(max(when_s, self._now_s))
            return None

    def _move_to(self, now_s: float) -> None:
        self._wall_s += now_s - self._now_s
        self._now_s = now_s


async def settle() -> None:
    """Let every task of this loop that can run now run as far as it can."""
    for _ in range(_SETTLE_ROUNDS):
        await asyncio.sleep(0)


def _wake(awake: "asyncio.Future[None]") -> None:
    """End a sleep, on whatever loop it is slept."""

    def end() -> None:
        if not awake.done():
            awake.set_result(None)

    if awake.get_loop() is asyncio.get_running_loop():
        end()
    else:
        with suppress(RuntimeError):  # that loop is closed: nobody sleeps there any more
            awake.get_loop().call_soon_threadsafe(end)
