"""Meter: how much of something happened per second, lately."""

_WINDOW_S = 2


class Meter:
    """Counts amounts in whole seconds. One thread adds; any may read."""

    def __init__(self) -> None:
        self.total = 0.0
        self._slots: tuple[tuple[int, float], ...] = ()

    def add(self, amount: float, now: float) -> None:
        """Note *amount* at *now*, monotonic seconds."""
        self.total += amount
        second = int(now)
        kept = tuple(slot for slot in self._slots if second - _WINDOW_S <= slot[0])
        if kept and kept[-1][0] == second:
            self._slots = (*kept[:-1], (second, kept[-1][1] + amount))
        else:
            self._slots = (*kept, (second, amount))

    def per_second(self, now: float) -> float:
        """Return the mean over the last two whole seconds."""
        second = int(now)
        recent = (amount for at, amount in self._slots if second - _WINDOW_S <= at < second)
        return sum(recent) / _WINDOW_S
