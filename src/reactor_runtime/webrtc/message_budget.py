"""MessageBudget: how fast one peer's data channels are read."""

from reactor_runtime.clock import Clock


class MessageBudget:
    """A token bucket of messages and bytes; a second's worth may come at once.

    What exceeds it is not dropped but read later: the peer's own flow control slows it down.

    Attributes:
        waits: How often the peer had to wait.
    """

    def __init__(self, clock: Clock, *, messages_per_s: float, bytes_per_s: float) -> None:
        self._clock = clock
        self._cost_of_message, self._cost_of_byte = 1 / messages_per_s, 1 / bytes_per_s
        self._paid_until = clock.now()
        self.waits = 0

    def spend(self, size_bytes: int) -> None:
        """Note a message of *size_bytes*."""
        cost = max(self._cost_of_message, size_bytes * self._cost_of_byte)
        self._paid_until = max(self._paid_until, self._clock.now()) + cost

    async def wait(self) -> None:
        """Return once the peer may be read again; at once while it is within its budget."""
        ahead = self._paid_until - self._clock.now()
        if ahead > 1.0:
            self.waits += 1
            await self._clock.sleep_until(self._clock.now() + ahead - 1.0)
