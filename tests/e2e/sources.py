"""What a client of the public Python SDK sends: pictures and sound at their own rhythm."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.e2e.tones import tone


@contextlib.asynccontextmanager
async def sending(*sources: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let *sources* send until the block ends."""
    tasks = [asyncio.ensure_future(source) for source in sources]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def film(camera: Any, make_picture: Callable[[], NDArray[np.uint8]]) -> None:
    """Push 30 pictures a second into a published track."""
    while True:
        camera.push_frame(make_picture())
        await asyncio.sleep(1 / 30)


async def sing(microphone: Any) -> None:
    """Push 440 Hz into a published track, 10 ms at a time."""
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    while True:
        while sent < (loop.time() - began) * 100:
            microphone.push_frame(tone(440, 0.01, start=sent * 480), sample_rate=48_000)
            sent += 1
        await asyncio.sleep(0.005)
