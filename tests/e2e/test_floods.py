"""Floods slow nobody and cut nobody off: a client's commands, an author's messages."""

import asyncio
import json
import sys
import time

import httpx
import pytest
from tests.e2e.process_figures import holdings
from tests.e2e.serving import ROOT, Served, own_address, serving
from tests.e2e.strain import strain

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
PER_S, SECONDS = 10_000, 2


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
            # The SDK does not keep the order of calls that are under way at the same time.
            assert reply["data"]["level"] == await last_admitted_level(served)
            # The client shares the machine with the server here: two frames short may be its doing.
            assert (len(viewer.pictures) - first) / took_s > 22 / strain()
            assert sorted(waits)[int(0.95 * len(waits))] < 0.2 * strain()
            assert holdings(served.process.pid).resident_mb - before.resident_mb < 30
            assert viewer.errors == []
            assert viewer.reactor.status.value == "ready"
        assert "error" not in served.log()


async def last_admitted_level(served: Served) -> int:
    """The level of the newest command in the record."""
    level = 0
    async with (
        httpx.AsyncClient(base_url=served.url, timeout=10, trust_env=False) as http,
        http.stream("GET", "/events?since=0") as events,
    ):
        async for line in events.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line[6:])
            if event["detail"].get("name") == "ask_level":
                return level
            if event["event"] == "command":
                level = int(event["detail"]["args"]["level"])
    raise AssertionError("the record ended")


async def health_wait_s(served: Served) -> float:
    began = time.monotonic()
    status, _ = await asyncio.to_thread(served.get, "/health")
    assert status == 200
    return time.monotonic() - began


async def test_an_author_who_says_too_much_at_once_cuts_nobody_off() -> None:
    with serving("tests.models.talks_a_lot:TalksALot") as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(5)
            for count, size in ((200, 10_000), (100, 200_000)):
                viewer.messages.clear()
                reply = await viewer.reactor.send_command("talk", {"count": count, "size": size})
                assert reply == {"type": "done", "data": {"number": count}}
                await viewer.message("done")  # what was said before it has come by then
                numbers = [int(m["data"]["number"]) for m in viewer.messages[:-1]]
                assert numbers == sorted(numbers)
                assert len(numbers) == count or count * size > 3_000_000
            assert "messages_dropped" in served.log()
            await viewer.frames(24)
            assert (await viewer.reactor.send_command("talk", {"count": 1, "size": 1})) is not None
            assert viewer.errors == []


async def test_a_message_past_the_limit_is_refused_at_the_authors_send_by_name_and_size() -> None:
    with serving("tests.models.talks_a_lot:TalksALot") as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(5)
            reply = await viewer.reactor.send_command("say_one", {"size": 200_000})
            assert reply == {"type": "refused", "data": {"text": ""}}
            assert len((await viewer.message("said"))["text"]) == 200_000
            reply = await viewer.reactor.send_command("say_one", {"size": 300_000})
            text = reply["data"]["text"]
            for word in ("said", "262144", "3000"):
                assert word in text.replace(",", ""), text
            assert [m["type"] for m in viewer.messages].count("said") == 1
            assert viewer.errors == []
