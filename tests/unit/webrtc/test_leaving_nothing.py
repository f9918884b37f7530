"""Rounds of connecting and leaving leave nothing behind."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable

import pytest
from tests.unit.webrtc.sources import Camera
from tests.unit.webrtc.viewer import PatternSource, RecordingListener, Viewer, needs_network
from tests.waiting import until

from reactor_runtime.webrtc.signaling import Signaling

pytestmark = needs_network

ROUNDS = 40


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def one_round(signaling: Signaling, listener: RecordingListener, how: int) -> None:
    """Connect a viewer that watches and publishes, and let it leave in one of four ways."""
    viewer = Viewer(signaling)
    viewer.receive("main_video")
    viewer.publish("webcam", Camera(fps=100))
    viewer.open_channels()
    if how == 3:  # its offer is abandoned
        await signaling.offer(viewer.connection_id, await viewer.make_offer(), viewer.mapping)
        await viewer.close()
        await signaling.close_all("abandoned")
        return
    await viewer.connect()
    await until(lambda: bool(listener.open))
    connection = listener.open[viewer.connection_id]
    connection.resume_track("main_video")
    if how == 0:
        await until(lambda: bool(viewer.frames["main_video"]))
        await viewer.close()
    elif how == 1:
        await connection.close()
        await viewer.close()
    else:
        await asyncio.gather(viewer.close(), signaling.close_all("stopped"))
    await until(lambda: len(signaling) == 0)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors in /proc")
async def test_rounds_of_connecting_leave_nothing_behind(
    make_signaling: Callable[..., Signaling],
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    signaling = make_signaling()
    listener.is_wanting = True
    for number in range(4):
        await one_round(signaling, listener, number)
    gc.collect()
    before = (descriptors(), threading.active_count(), len(asyncio.all_tasks()))
    for number in range(ROUNDS):
        await one_round(signaling, listener, number % 4)

    def now() -> tuple[int, int, int]:
        gc.collect()
        return (descriptors(), threading.active_count(), len(asyncio.all_tasks()))

    await until(lambda: now() <= before, 5)
    assert len(playing.holds) == 0
    opened = [number for name, number in listener.events if name == "opened"]
    closed = [number for name, number in listener.events if name == "closed"]
    assert opened == closed
    assert len(opened) == 3 * (ROUNDS + 4) // 4
