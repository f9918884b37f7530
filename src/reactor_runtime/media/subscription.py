"""Subscription: one viewer's hold on the encoded frames of one track."""

from collections.abc import Callable


class Subscription:
    """Made by ``LiveStream.subscribe``; every method is called on the event loop.

    Until ``close`` the sink gets each encoded frame of its track, beginning with a key frame.
    """

    def __init__(
        self,
        request_key: Callable[["Subscription", bool], None],
        close: Callable[["Subscription"], None],
    ) -> None:
        self._request_key, self._close = request_key, close

    def request_key(self, urgent: bool = False) -> None:
        """Ask for a key frame.

        *urgent* (a viewer resumes, its queue was cut) is served at once, merged within 100 ms, and
        once in 0.5 s; otherwise (PLI, FIR) once in 2 s, doubling to 8 s while it repeats, and at
        most once a second for the whole track. A request that must wait is kept, not lost.
        """
        self._request_key(self, urgent)

    def close(self) -> None:
        """Take the sink off. Idempotent."""
        self._close(self)
