import asyncio
from collections.abc import Iterator

import pytest

from reactor_runtime.loop_lag import INTERVAL_S, WINDOW, LoopLag
from reactor_runtime.metrics import Metrics


class LateClock:
    """Oversleeps by the next of *lags*; when they are used up, it sleeps for ever."""

    def __init__(self, lags: list[float]) -> None:
        self._lags: Iterator[float] = iter(lags)
        self._now = 100.0
        self.asked_for: list[float] = []
        self.is_done = asyncio.Event()

    def now(self) -> float:
        return self._now

    def wall(self) -> float:
        return self._now

    async def sleep_until(self, when_s: float) -> None:
        self.asked_for.append(when_s - self._now)
        lag = next(self._lags, None)
        if lag is None:
            self.is_done.set()
            await asyncio.get_running_loop().create_future()
        else:
            self._now = when_s + lag


async def measure(clock: LateClock) -> tuple[LoopLag, Metrics]:
    metrics = Metrics()
    lag = LoopLag(clock, metrics)
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(lag.run())
        await clock.is_done.wait()
        running.cancel()
    return lag, metrics


async def test_lag_is_published() -> None:
    lag, metrics = await measure(LateClock([0.001, 0.00225, 0.2]))
    assert lag.recent_s == pytest.approx(0.00225)
    text = metrics.render().decode()
    assert "reactor_loop_lag_seconds_count 3.0" in text
    assert "reactor_loop_lag_recent_seconds 0.00" in text


async def test_lag_that_stays_is_warned_about_once_with_the_cure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await measure(LateClock([0.08] * (3 * WINDOW)))
    (warning,) = caplog.records
    assert "event_loop_is_late" in warning.getMessage()
    assert "runtime.isolation: process" in warning.getMessage()


@pytest.mark.parametrize(
    "lags",
    [[0.04] * (2 * WINDOW), ([0.3] + [0.001] * 5) * WINDOW, [0.5] * (WINDOW - 1)],
    ids=["below", "peaks", "too short"],
)
async def test_short_or_small_lag_is_not(
    caplog: pytest.LogCaptureFixture, lags: list[float]
) -> None:
    await measure(LateClock(lags))
    assert caplog.records == []


def test_the_window_is_five_seconds() -> None:
    assert pytest.approx(5.0) == INTERVAL_S * WINDOW


async def test_no_model_keeps_step_with_the_samples() -> None:
    clock = LateClock([0.0] * 200)
    await measure(clock)
    assert min(clock.asked_for) < 0.8 * INTERVAL_S < 1.2 * INTERVAL_S < max(clock.asked_for)
    assert sum(clock.asked_for) / len(clock.asked_for) == pytest.approx(INTERVAL_S, rel=0.2)


async def test_the_tasks_of_the_loop_are_counted() -> None:
    _, metrics = await measure(LateClock([0.0]))
    told = metrics.render().decode()
    (line,) = [line for line in told.splitlines() if line.startswith("reactor_tasks ")]
    assert float(line.split()[1]) >= 2
