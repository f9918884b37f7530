"""A server whose rank dies under a live viewer: who is told, and who may come next."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from tests.e2e.process_figures import no_process_is_left, ranks_of
from tests.e2e.serving import WORLDS, own_address, serving
from tests.e2e.wire_client import WEBRTC, WireClient, signaling_to, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

MODEL = "tests.models.goes_astray:GoesAstray"
FLAGS = WORLDS[2]
VIDEO = ("main_video", "video")


# In the server, torch is gone once the file is there: as a device is that fell off its bus.
LOSES_TORCH = """
import os, sys, threading, time
from pathlib import Path
import numpy as np
from reactor_runtime import InputState, Output, ReactorPipeline, Video

class Picture(Output):
    main_video: Video

class LosesTorch(ReactorPipeline):
    state: InputState

    def inference(self, input):
        return Picture(main_video=np.zeros((1, 16, 16, 3), np.uint8))

def lose():
    while not Path("lost").exists():
        time.sleep(0.05)
    sys.modules["torch"] = None
    Path("lost").unlink()

if "RANK" not in os.environ:
    threading.Thread(target=lose, daemon=True).start()
"""


async def told_why(client: WireClient) -> str:
    """Wait for the notice that the session has ended, and return what it says."""
    await until(lambda: any(notice.HasField("session_ended") for notice in client.notices), 5)
    last = next(notice for notice in client.notices if notice.HasField("session_ended"))
    assert last.session_ended.reason == "error"
    (error,) = [reply.error for reply in client.replies if reply.HasField("error")]
    return f"{error.code} {error.message}"


@pytest.mark.parametrize("victim", [0, 1])
async def test_who_watches_is_told_and_the_process_ends(victim: int) -> None:
    with serving(MODEL, *FLAGS) as served:
        ranks = ranks_of(served.process.pid)
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
            os.kill(ranks[victim], signal.SIGKILL)
            assert "WorkerCrashed" in await told_why(client)
            assert await asyncio.to_thread(served.process.wait, 10) == 1
        assert served.log().count("Traceback") <= 1
        assert f"rank {victim} died" in served.log()
        assert "never retrieved" not in served.log()
    assert no_process_is_left(ranks)


async def test_nobody_is_let_in_until_new_ranks_are_there_and_then_a_session_works() -> None:
    with serving(MODEL, *FLAGS, "--on-failure", "restart") as served:
        before = ranks_of(served.process.pid)
        async with signaling_to(served.url) as other, wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
            os.kill(before[1], signal.SIGKILL)
            assert "WorkerCrashed" in await told_why(client)
            assert (await other.http.post("/start_session", json={})).status_code == 503
            assert (await other.http.post(f"{WEBRTC}/connections", json={})).is_error
            assert (await other.http.get("/health/ready")).status_code == 503
        served.wait_for_state("ready")
        assert served.get("/health/ready")[0] == 200
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
            assert (await client.call("now", {"way": "refuse", "rank": -1})).HasField("error")
        assert not set(before) & set(ranks_of(served.process.pid))
        assert await asyncio.to_thread(served.stop) == 0


@pytest.mark.torch
def test_what_cannot_be_started_again_ends_the_server_with_the_reason(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the ranks join a process group")
    (tmp_path / "model.py").write_text(LOSES_TORCH)
    flags = ("--isolation", "process", "--init-process-group", "--on-failure", "restart")
    with serving("model:LosesTorch", *flags, cwd=tmp_path) as served:
        (tmp_path / "lost").touch()
        deadline = time.monotonic() + 30
        while (tmp_path / "lost").exists():
            assert time.monotonic() < deadline, served.log()
            time.sleep(0.05)  # polling another process: it has no condition to wait on
        (rank,) = ranks_of(served.process.pid)
        os.kill(rank, signal.SIGKILL)
        assert served.process.wait(30) == 1, served.log()
        assert "reactor: the ranks were to join a process group" in served.log()
        assert "ExceptionGroup" not in served.log()
