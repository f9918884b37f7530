"""StagedAnswer: the answer to one offer, handed out once."""

import asyncio

from reactor_runtime.errors import NegotiationError


class StagedAnswer:
    """Empty until ``stage`` or ``fail``; empty again once it was taken."""

    def __init__(self, connection_id: int) -> None:
        self._connection_id = connection_id
        self._settled = asyncio.Event()
        self._sdp: str | None = None
        self._failure: str | None = None

    def stage(self, sdp: str) -> None:
        """Put the answer in."""
        self._sdp = sdp
        self._settled.set()

    def fail(self, reason: str) -> None:
        """Say why no connection comes of the offer, answered or not."""
        self._failure = reason
        self._settled.set()

    async def take(self, wait_s: float) -> str | None:
        """Return the answer once, waiting up to *wait_s* seconds for it.

        Raises:
            NegotiationError: No connection comes of the offer.
        """
        if wait_s > 0 and not self._settled.is_set():
            try:
                async with asyncio.timeout(wait_s):
                    await self._settled.wait()
            except TimeoutError:
                return None
        if self._failure is not None:
            raise NegotiationError(self._connection_id, self._failure)
        sdp, self._sdp = self._sdp, None
        return sdp
