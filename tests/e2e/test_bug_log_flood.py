"""A flood of commands slows nobody and cuts nobody off; the last one counts (B18)."""

import asyncio
import json
import sys
import time

import pytest
from tests.e2e.process_figures import holdings
from tests.e2e.serving import ROOT, Served, own_address, serving

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
PER_S, SECONDS = 10_000, 3


async def test_a_flood_of_commands_slows_nobody_and_the_last_one_counts() -> None:
    with serving("tests.models.holds_a_level:HoldsALevel") as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(24)
            before = holdings(served.process.pid)
            session = viewer.reactor.session_id
            flood = await asyncio.create_subprocess_exec(
                sys.executable, str(ROOT / "tests/e2e/flooding_client.py"),
                served.url, str(session), str(PER_S), str(SECONDS),
                stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            ended = asyncio.create_task(flood.communicate())
            first, began = len(viewer.pictures), time.monotonic()
            waits = [await health_wait_s(served)]
            while not ended.done():
                waits.append(await health_wait_s(served))
                await asyncio.wait({ended}, timeout=0.05)
            took_s = time.monotonic() - began
            report = json.loads((await ended)[0])
            assert report["sent"] > 1_000 * SECONDS
            assert report["answers"] == {"ok": report["sent"]}  # older ones acknowledged, not run
            reply = await viewer.reactor.send_command("ask_level", {})
            assert reply is not None
            assert reply["data"]["level"] == report["sent"]
            # The client shares the machine with the server here: two frames short may be its doing.
            assert (len(viewer.pictures) - first) / took_s > 22
            assert max(waits) < 0.2
            assert holdings(served.process.pid).resident_mb - before.resident_mb < 30
            assert viewer.errors == []
            assert viewer.reactor.status.value == "ready"
        assert "error" not in served.log()


async def health_wait_s(served: Served) -> float:
    began = time.monotonic()
    status, _ = await asyncio.to_thread(served.get, "/health")
    assert status == 200
    return time.monotonic() - began
