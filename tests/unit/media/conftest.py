import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.unit.media.material import CLOCK, video

from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.model.tracks import Track


@pytest.fixture
async def make_stream() -> AsyncIterator[Callable[..., LiveStream]]:
    """Return a maker of started streams; they are stopped at the end."""
    streams: list[LiveStream] = []

    def make(*tracks: Track, **settings: Any) -> LiveStream:
        stream = LiveStream(tracks or [video()], settings=MediaSettings(**settings), clock=CLOCK)
        stream.start(asyncio.get_running_loop())
        streams.append(stream)
        return stream

    yield make
    for stream in streams:
        stream.stop()
