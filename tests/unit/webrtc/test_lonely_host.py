"""A host that has nothing but loopback, in a network namespace of its own."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_ENTER = ["unshare", "--net", "--map-root-user"]


def can_enter() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run([*_ENTER, "true"], capture_output=True, timeout=10).returncode == 0


def run_inside(name: str, module: str = __name__) -> None:
    """Run the coroutine *name* of a module where only loopback exists."""
    script = f"import asyncio; from {module} import {name}; asyncio.run({name}())"
    command = f"ip link set lo up && exec {sys.executable} -W error -c '{script}'"
    done = subprocess.run(
        [*_ENTER, "sh", "-c", command],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        timeout=60,
        text=True,
    )
    assert done.returncode == 0, done.stderr


pytestmark = pytest.mark.skipif(not can_enter(), reason="needs a network namespace of its own")


def test_a_client_on_loopback_connects_where_there_is_nothing_else() -> None:
    run_inside("connect_over_loopback")


def test_other_clients_are_refused_at_once_with_the_reason() -> None:
    run_inside("refuse_others")


async def connect_over_loopback() -> None:
    """An aiortc client that offers 127.0.0.1 (aiortc itself leaves it out) gets pictures."""
    import aioice.ice
    from tests.unit.webrtc.viewer import (
        VIDEO,
        PatternSource,
        RecordingListener,
        Viewer,
        until,
    )

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
