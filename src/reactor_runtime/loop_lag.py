"""LoopLag: measures how late the event loop runs what is due, and says so when it stays late.

A model in this process shares the interpreter lock with the loop. One that holds it makes every
viewer's packets late, which looks like a bad network; only this figure tells. The loop's tasks are
counted on the way: a number that only grows is a leak.
"""

import asyncio
import random
from collections import deque
from statistics import median

from reactor_runtime.clock import Clock
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics

INTERVAL_S = 0.1  # on average: a fixed one keeps step with a model that is as long at a time
WINDOW = 50  # samples: five seconds
LATE_S = 0.05

log = get_logger(__name__)


class LoopLag:
    """Samples the loop it runs on, until it is cancelled."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._recent: deque[float] = deque(maxlen=WINDOW)
        self._has_warned = False

    async def run(self) -> None:
        """Measure for ever."""
        while True:
            due = self._clock.now() + INTERVAL_S * random.uniform(0.5, 1.5)
            await self._clock.sleep_until(due)
            self._note(max(0.0, self._clock.now() - due))
            self._metrics.tasks.set(len(asyncio.all_tasks()))

    @property
    def recent_s(self) -> float:
        """Median lateness over the last seconds."""
        return median(self._recent) if self._recent else 0.0

    def _note(self, lag_s: float) -> None:
        self._recent.append(lag_s)
        self._metrics.loop_lag.observe(lag_s)
        recent_s = self.recent_s
        self._metrics.loop_lag_now.set(recent_s)
        if len(self._recent) == WINDOW and recent_s > LATE_S and not self._has_warned:
            self._has_warned = True
            log.warning(
                "event_loop_is_late",
                median_ms=round(recent_s * 1000, 1),
                cause="the model holds the interpreter lock",
                cure="set runtime.isolation: process",
            )
