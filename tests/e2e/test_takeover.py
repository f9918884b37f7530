"""A start against an occupied session, with real clients in processes of their own."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.serving import ROOT, Served, own_address, serving

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
CLIENT = """
import asyncio, sys
from tests.e2e.sdk_viewer import viewing

async def main():
    async with viewing(sys.argv[1]) as viewer:
        await viewer.frames(5)
        print("watching", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def server() -> Iterator[Served]:
    with serving("steered:Steered", cwd=ROOT / "tests" / "models") as served:
        yield served


@contextlib.contextmanager
def watching(server: Served) -> Iterator[subprocess.Popen[str]]:
    """A client in a process of its own that sees the video."""
    argv = [sys.executable, "-c", CLIENT, server.url]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "watching"
            yield process
        finally:
            process.kill()


def start(server: Served) -> tuple[int, float]:
    """Return the status of a start, and how long the answer took."""
    request = urllib.request.Request(
        server.url + "/start_session", data=b"{}", headers={"Content-Type": "application/json"}
    )
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            status = response.status
            json.load(response)
    except urllib.error.HTTPError as error:
        status = error.code
    return status, time.monotonic() - began


def test_a_killed_client_yields_within_three_seconds(server: Served) -> None:
    with watching(server) as client:
        client.send_signal(signal.SIGKILL)
        client.wait()
        deadline = time.monotonic() + 5
        status, took_s = start(server)
        while status == 409 and took_s < 0.5:  # it spoke less than a second ago
            assert time.monotonic() < deadline
            time.sleep(0.2)
            status, took_s = start(server)
        assert status == 200
        assert took_s < 3.0
        assert server.state() == "waiting"


def test_a_living_client_keeps_its_session(server: Served) -> None:
    with watching(server):
        for _ in range(3):
            status, _took_s = start(server)
            assert status == 409
        assert server.state() == "streaming"


async def test_a_client_that_stood_still_for_a_moment_keeps_its_session(server: Served) -> None:
    with watching(server) as client:
        client.send_signal(signal.SIGSTOP)
        await asyncio.sleep(1.5)  # the hiccup itself, not a wait for something
        try:
            answer = asyncio.create_task(asyncio.to_thread(start, server))
            await asyncio.sleep(0.5)
        finally:
            client.send_signal(signal.SIGCONT)
        status, _took_s = await answer
        assert status == 409
        assert server.state() == "streaming"


async def test_moderation_is_told_before_the_connection_closes(server: Served) -> None:
    from tests.e2e.sdk_viewer import viewing

    async with viewing(server.url) as viewer:
        loop = asyncio.get_running_loop()
        told: asyncio.Future[dict[str, Any]] = loop.create_future()
        viewer.reactor.on(
            "runtime_message", lambda notice: loop.call_soon_threadsafe(told.set_result, notice)
        )
        await viewer.frames(3)
        request = urllib.request.Request(
            server.url + "/stop_session",
            data=b'{"moderate": true, "reason": "not here"}',
            headers={"Content-Type": "application/json"},
        )
        await asyncio.to_thread(urllib.request.urlopen, request)
        async with asyncio.timeout(2):
            notice = await told
        assert (notice["type"], notice["data"]["message"]) == ("moderation", "not here")
