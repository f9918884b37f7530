import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.unit.webrtc.viewer import (
    AUDIO,
    MIC,
    VIDEO,
    WEBCAM,
    PatternSource,
    RecordingListener,
    Viewer,
)

from reactor_runtime.model.tracks import Track
from reactor_runtime.webrtc.signaling import Signaling
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings


@pytest.fixture
def listener() -> RecordingListener:
    return RecordingListener()


@pytest.fixture
def source() -> PatternSource:
    return PatternSource()


@pytest.fixture
async def nothing_left_behind() -> AsyncIterator[None]:
    """Fail on an exception nobody retrieved and on tasks that outlive the test."""
    problems: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: problems.append(context))
    before = asyncio.all_tasks()
    yield
    mine = {asyncio.current_task()}
    async with asyncio.timeout(3):
        while asyncio.all_tasks() - before - mine:  # noqa: ASYNC110 - tasks of the libraries
            await asyncio.sleep(0.01)
    gc.collect()
    await asyncio.sleep(0)
    assert problems == []


@pytest.fixture
async def make_signaling(
    listener: RecordingListener, source: PatternSource, nothing_left_behind: None
) -> AsyncIterator[Callable[..., Signaling]]:
    """Return a maker of ``Signaling``; each is closed at the end."""
    made: list[Signaling] = []

    def make(*tracks: Track, **settings: Any) -> Signaling:
        signaling = Signaling(
            listener,
            source,
            tracks or (VIDEO, AUDIO, WEBCAM, MIC),
            settings=WebRtcSettings(**settings),
        )
        made.append(signaling)
        return signaling

    yield make
    for signaling in made:
        await signaling.close_all("the test is over")


@pytest.fixture
async def make_viewer(
    make_signaling: Callable[..., Signaling],
) -> AsyncIterator[Callable[..., Viewer]]:
    """Return a maker of aiortc clients; each is closed at the end."""
    made: list[Viewer] = []

    def make(signaling: Signaling, connection_id: int | None = None) -> Viewer:
        viewer = Viewer(signaling, connection_id)
        made.append(viewer)
        return viewer

    yield make
    for viewer in made:
        await viewer.close()


@pytest.fixture
async def playing(source: PatternSource) -> AsyncIterator[PatternSource]:
    """The source, showing 50 pictures a second."""
    task = asyncio.create_task(source.play(50))
    yield source
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
