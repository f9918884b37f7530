"""FakeClock: time that moves when a test says so."""

import asyncio
import heapq
import itertools

_SETTLE_ROUNDS = 20


class FakeClock:
    """Implements ``Clock``. ``advance`` is the only thing that moves it.

    Args:
        now_s: Monotonic seconds it begins with.
        wall_s: Epoch seconds it begins with.
    """

    def __init__(self, now_s: float = 1000.0, wall_s: float = 1_700_000_000.0) -> None:
        self._now_s, self._wall_s = now_s, wall_s
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Return monotonic seconds."""
        return self._now_s

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return self._wall_s

    async def sleep_until(self, when_s: float) -> None:
        """Return once ``now()`` has reached *when_s*."""
        if when_s <= self._now_s:
            await asyncio.sleep(0)
            return
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (when_s, next(self._numbers), awake))
        await awake

    async def advance(self, seconds: float) -> None:
        """Move time on, waking each sleeper at its time, and let what they do be done."""
        end_s = self._now_s + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end_s:
            when_s, _, awake = heapq.heappop(self._sleepers)
            self._move_to(max(when_s, self._now_s))
            if not awake.done():
                awake.set_result(None)
                await settle()
        self._move_to(end_s)
        await settle()

    def jump(self, seconds: float) -> None:
        """Move time on without waking anybody: the process stood still."""
        self._move_to(self._now_s + seconds)

    def _move_to(self, now_s: float) -> None:
        self._wall_s += now_s - self._now_s
        self._now_s = now_s


async def settle() -> None:
    """Let every task that can run now run as far as it can."""
    for _ in range(_SETTLE_ROUNDS):
        await asyncio.sleep(0)
