"""EventStreamResponse: server-sent events that end when either side does."""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class EventStreamResponse(Response):
    """Sends each text of *parts* as it comes, until they end or the reader has left.

    A reader who left is noticed at once, not with the next event: on a quiet server there may be
    none for hours.

    Args:
        parts: What is sent.
        on_end: Called when it is over.
    """

    media_type = "text/event-stream"

    def __init__(self, parts: AsyncIterator[str], on_end: Callable[[], None]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._parts, self._on_end = parts, on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one reader."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            await send(start)
            async with asyncio.TaskGroup() as group:
                pump = group.create_task(self._pump(send))
                leaving = group.create_task(_disconnected(receive))
                await asyncio.wait({pump, leaving}, return_when=asyncio.FIRST_COMPLETED)
                pump.cancel()
                leaving.cancel()
        finally:
            self._on_end()

    async def _pump(self, send: Send) -> None:
        async for part in self._parts:
            await send({"type": "http.response.body", "body": part.encode(), "more_body": True})
            # Of a reader who left we hear from the loop: until then every write would fail, and
            # asyncio warns of those.
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
