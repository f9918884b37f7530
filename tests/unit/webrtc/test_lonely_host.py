"""A host that has nothing but loopback, in a network namespace of its own."""

import asyncio
import time

import pytest
from tests.lonely_host import needs_namespace, run_lonely
from tests.waiting import until

pytestmark = needs_namespace


def test_a_client_on_loopback_connects_where_there_is_nothing_else() -> None:
    run_lonely(__name__, "connect_over_loopback")


def test_other_clients_are_refused_at_once_with_the_reason() -> None:
    run_lonely(__name__, "refuse_others")


async def connect_over_loopback() -> None:
    """An aiortc client that offers 127.0.0.1 (aiortc itself leaves it out) gets pictures."""
    import aioice.ice
    from tests.unit.webrtc.viewer import VIDEO, PatternSource, RecordingListener, Viewer

    from reactor_runtime.webrtc.signaling import Signaling

    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
    listener, source = RecordingListener(), PatternSource()
    signaling = Signaling(listener, source, [VIDEO])
    viewer = Viewer(signaling)
    viewer.receive("main_video")
    viewer.open_channels()
    await viewer.connect()
    await until(lambda: bool(listener.open))
    listener.open[viewer.connection_id].resume_track("main_video")
    playing = asyncio.create_task(source.play())
    await until(lambda: len(viewer.frames["main_video"]) > 3)
    playing.cancel()
    await viewer.close()
    await signaling.close_all("done")


async def refuse_others() -> None:
    """A client without a loopback candidate could never connect: it is told, and why."""
    from tests.unit.webrtc.offers import application, offer
    from tests.unit.webrtc.viewer import RecordingListener

    from reactor_runtime.errors import NoNetworkError
    from reactor_runtime.webrtc.signaling import Signaling

    signaling = Signaling(RecordingListener(), None, [])
    started = time.perf_counter()
    reason = signaling.no_network_reason()
    assert reason is not None
    assert "loopback" in reason
    with pytest.raises(NoNetworkError, match="loopback"):
        await signaling.offer(5000, offer(application("0")))
    assert time.perf_counter() - started < 2
    await signaling.close_all("done")
