import asyncio
from collections.abc import Callable

from reactor_runtime.clock import SystemClock
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.host.watchdog import Watchdog


class HandClock(SystemClock):
    time_s = 100.0

    def now(self) -> float:
        return self.time_s


def test_a_turn_is_busy_from_its_beginning_to_its_end() -> None:
    clock = HandClock()
    watch = TurnWatch(clock)
    assert watch.busy_s == 0
    watch.begin()
    clock.time_s += 3
    assert watch.busy_s == 3
    watch.end()
    assert watch.busy_s == 0


def test_waits_are_counted_apart() -> None:
    clock = HandClock()
    watch = TurnWatch(clock)
    watch.begin()
    clock.time_s += 1
    with watch.waiting():
        clock.time_s += 10
        assert watch.busy_s == 0
    clock.time_s += 2
    assert (watch.busy_s, watch.waited_s) == (2, 10)
    watch.begin()
    assert watch.waited_s == 0


def test_of_several_waits_the_last_one_ends_the_waiting() -> None:
    clock = HandClock()
    watch = TurnWatch(clock)
    watch.begin()
    one, other = watch.waiting(), watch.waiting()
    one.__enter__()
    clock.time_s += 1
    other.__enter__()
    one.__exit__(None, None, None)
    clock.time_s += 100
    assert watch.busy_s == 0
    other.__exit__(None, None, None)
    clock.time_s += 3
    assert (watch.busy_s, watch.waited_s) == (3, 101)


def test_a_wait_that_outlives_its_turn_does_not_count_in_the_next() -> None:
    clock = HandClock()
    watch = TurnWatch(clock)
    watch.begin()
    with watch.waiting():
        watch.end()
        watch.begin()
        clock.time_s += 5
        assert watch.busy_s == 5
    assert (watch.busy_s, watch.waited_s) == (5, 0)


def test_a_wait_outside_a_turn_begins_none() -> None:
    watch = TurnWatch(HandClock())
    with watch.waiting():
        pass
    assert watch.busy_s == 0


async def bark(
    watch: TurnWatch, settings: HostSettings, ping: Callable[[Callable[[], None]], None]
) -> float:
    barked: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    dog = Watchdog(watch, settings, ping=ping, on_timeout=barked.set_result)
    dog.start()
    try:
        return await asyncio.wait_for(barked, 5)
    finally:
        dog.stop()


def answer(callback: Callable[[], None]) -> None:
    callback()


async def test_it_barks_at_a_turn_that_is_busy_too_long() -> None:
    clock = HandClock()
    watch = TurnWatch(clock)
    watch.begin()
    clock.time_s += 7
    watch.first_step_is_over = True
    settings = HostSettings(turn_timeout_s=0.05)
    assert await bark(watch, settings, answer) == 7


async def test_it_barks_at_a_loop_that_answers_no_ping() -> None:
    settings = HostSettings(turn_timeout_s=0.05, first_turn_timeout_s=0.05)
    assert await bark(TurnWatch(SystemClock()), settings, lambda callback: None) > 0.05
