"""SentRate: bits per second that left for one viewer, over the last second."""

from collections import deque

_WINDOW_S = 1.0


class SentRate:
    """Made of totals that are looked at now and then."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def update(self, octets: int, now: float) -> float:
        """Take what was sent in all, and return the rate since about a second before *now*."""
        seen = self._seen
        while len(seen) > 1 and seen[1][0] <= now - _WINDOW_S:
            seen.popleft()
        rate = 0.0
        if seen and now > seen[0][0]:
            rate = 8 * (octets - seen[0][1]) / (now - seen[0][0])
        seen.append((now, octets))
        return rate
