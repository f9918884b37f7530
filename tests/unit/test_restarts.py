"""Three restarts in ten minutes, each after a longer wait."""

from reactor_runtime.restarts import Restarts


class SetClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now(self) -> float:
        return self.time_s

    def wall(self) -> float:
        return self.time_s

    async def sleep_until(self, when_s: float) -> None:
        self.time_s = when_s


def test_three_tries_in_ten_minutes() -> None:
    clock = SetClock()
    restarts = Restarts(clock)
    assert [restarts.next_delay_s() for _ in range(4)] == [1.0, 2.0, 4.0, None]
    clock.time_s = 599.0
    assert restarts.next_delay_s() is None
    clock.time_s = 600.0
    assert restarts.next_delay_s() == 1.0
