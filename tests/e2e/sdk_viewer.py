"""A viewer on the public Python SDK, unmodified: connects, counts frames, reads their colour."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reactor_sdk import Reactor


class SdkViewer:
    """One client; ``pictures`` and their ``sizes`` grow from the SDK's own thread."""

    def __init__(self, url: str) -> None:
        self.reactor = Reactor("test", local=True, api_url=url)
        self.pictures: list[tuple[float, tuple[int, int, int]]] = []
        self.sizes: list[tuple[int, int]] = []
        self.messages: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self._arrived = threading.Condition()
        self.reactor.on_message(self._on_message)
        self.reactor.on_error(self._on_error)
        self.reactor.track("main_video").on_frame(self._on_frame)

    def _on_frame(self, frame: NDArray[np.uint8]) -> None:
        red, green, blue = (int(v) for v in np.median(frame[-20:, -20:].reshape(-1, 3), axis=0))
        with self._arrived:
            self.sizes.append((frame.shape[1], frame.shape[0]))
            self.pictures.append((time.monotonic(), (red, green, blue)))
            self._arrived.notify_all()

    def _on_error(self, error: Exception) -> None:
        with self._arrived:
            self.errors.append(str(error))
            self._arrived.notify_all()

    def _on_message(self, message: dict[str, Any], *_: Any) -> None:
        with self._arrived:
            self.messages.append(message)
            self._arrived.notify_all()

    async def until(self, condition: Any, timeout_s: float = 10.0) -> None:
        """Wait, without blocking the loop, until *condition()* is true."""

        def wait() -> bool:
            with self._arrived:
                return bool(self._arrived.wait_for(condition, timeout_s))

        assert await asyncio.to_thread(wait), "the condition did not come true in time"

    async def see(self, color: str, timeout_s: float = 10.0) -> None:
        """Wait for a new picture whose strongest channel is *color*."""
        channel = ("red", "green", "blue").index(color)
        seen = len(self.pictures)

        def shown() -> bool:
            return any(max(range(3), key=p.__getitem__) == channel for _, p in self.pictures[seen:])

        await self.until(shown, timeout_s)

    async def frames(self, count: int, timeout_s: float = 10.0) -> None:
        """Wait for *count* more pictures."""
        goal = len(self.pictures) + count
        await self.until(lambda: len(self.pictures) >= goal, timeout_s)

    async def message(self, name: str, timeout_s: float = 10.0) -> dict[str, Any]:
        """Wait for a message called *name* and return its body."""
        await self.until(lambda: any(m["type"] == name for m in self.messages), timeout_s)
        return dict(next(m["data"] for m in self.messages if m["type"] == name))


@contextlib.asynccontextmanager
async def viewing(url: str, session_id: str | None = None) -> AsyncIterator[SdkViewer]:
    """Connect a viewer and disconnect it at the end."""
    viewer = SdkViewer(url)
    try:
        await asyncio.wait_for(viewer.reactor.connect(session_id=session_id), 20)
        yield viewer
    finally:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(viewer.reactor.disconnect(), 10)
        viewer.reactor.close()
