"""The only source of time: monotonic seconds for measuring, epoch seconds for telling people."""

import asyncio
import time
from typing import Final, Protocol

FOR_EVER_S: Final = 365 * 86400.0  # for what wants a number where no bound was asked for


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> float:
        """Return monotonic seconds."""
        ...

    def wall(self) -> float:
        """Return seconds since the epoch."""
        ...

    async def sleep_until(self, when_s: float) -> None:
        """Return once ``now()`` has reached *when_s*."""
        ...


class SystemClock:
    """The machine's own clocks."""

    now = staticmethod(time.monotonic)  # itself: a turn asks it nine times
    wall = staticmethod(time.time)

    async def sleep_until(self, when_s: float) -> None:
        """Return once ``now()`` has reached *when_s*."""
        await asyncio.sleep(max(0.0, when_s - time.monotonic()))
