"""A lane's thread outlives what goes wrong on it."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial

import pytest

from reactor_runtime.clock import SystemClock
from reactor_runtime.media.lane import Lane, Work
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import Pacer


class FailingLane(Lane):
    """Fails once, in looking for work or in doing it."""

    def __init__(self, pacer: Pacer, clock: SystemClock, *, fails_in: str) -> None:
        super().__init__("failing", pacer, (), clock)
        self.went_on = threading.Event()
        self._fails_in = fails_in

    def take(self, now: float) -> Work | None:
        if self._fails_in == "take":
            self._fails_in = ""
            raise LookupError("no such track")
        return partial(self._work, self._fails_in) if not self.went_on.is_set() else None

    def dues(self) -> Sequence[float | None]:
        return ()

    def _work(self, fails_in: str, loop: asyncio.AbstractEventLoop) -> None:
        if fails_in == "work":
            self._fails_in = ""
            raise LookupError("no such encoder")
        self.went_on.set()


@pytest.mark.parametrize("fails_in", ["take", "work"])
async def test_one_failure_costs_a_moment_and_not_the_thread(fails_in: str) -> None:
    clock = SystemClock()
    pacer = Pacer({}, has_video=True, settings=MediaSettings(), clock=clock)
    lane = FailingLane(pacer, clock, fails_in=fails_in)
    lane.start(asyncio.get_running_loop())
    try:
        assert await asyncio.to_thread(lane.went_on.wait, 20.0)
    finally:
        lane.tell_to_stop()
        await asyncio.to_thread(lane.join)
