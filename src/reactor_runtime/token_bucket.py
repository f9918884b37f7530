"""TokenBucket: how much somebody may ask for per second."""


class TokenBucket:
    """Fills at a steady rate up to a burst; each thing asked for takes one token.

    Args:
        rate_per_s: Tokens per second.
        burst: Tokens it holds when full; it begins full.
        now: Monotonic seconds.
    """

    def __init__(self, rate_per_s: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate_per_s, burst
        self._tokens, self._filled_at = burst, now

    def take(self, now: float) -> bool:
        """Take one token; ``False`` when there is none."""
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
