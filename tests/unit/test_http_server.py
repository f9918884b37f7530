"""The application on a real socket: what only shows there."""

import asyncio
import contextlib
import json
import logging
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from tests.unit.recording.material import open_shelf, record

from reactor_runtime.http.app import create_app
from reactor_runtime.http.event_stream import EventStreamResponse
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.http_server import DRAIN_S, HttpServer
from reactor_runtime.listening_socket import open_sockets
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.shelf import Shelf


@dataclass
class Running:
    server: HttpServer
    stage: Stage
    port: int


@asynccontextmanager
async def running(settings: ServerSettings | None = None) -> AsyncIterator[Running]:
    """A server whose model is still being imported; it must end in time."""
    stage = Stage(settings or ServerSettings(body_timeout_s=0.5), Metrics())
    server = HttpServer(create_app(stage))
    (listener,) = open_sockets("127.0.0.1", 0)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve([listener]))
        await server.wait_until_up()
        yield Running(server, stage, listener.getsockname()[1])
        server.stop()


async def exchange(port: int, request: bytes) -> bytes:
    """Send raw bytes and return all that comes back until the server closes."""
    return await asyncio.to_thread(_exchange, port, request)


def _exchange(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer


def _pour(port: int, request: bytes, part: bytes) -> None:
    """Send *part* for ever; returns when the server has had enough."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        deadline = time.monotonic() + 10
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < deadline:
                connection.sendall(part)
            raise AssertionError("it never had enough")


def head(port: int, method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *lines, "", ""]
    ).encode()


def chunks(count: int) -> bytes:
    return (b"10000\r\n" + b" " * 65536 + b"\r\n") * count


async def test_a_chunked_body_past_the_limit_is_413() -> None:
    async with running() as it:
        request = head(
            it.port, "POST", "/start_session", "Transfer-Encoding: chunked", "Connection: close"
        )
        whole = request + chunks(32) + b"0\r\n\r\n"
        assert (await exchange(it.port, whole)).startswith(b"HTTP/1.1 413 ")


async def test_an_endless_chunked_body_is_cut_off() -> None:
    async with running() as it:
        request = head(it.port, "POST", "/start_session", "Transfer-Encoding: chunked")
        await asyncio.to_thread(_pour, it.port, request, chunks(1))
        request = head(it.port, "GET", "/health", "Content-Length: 99999999999")
        await asyncio.to_thread(_pour, it.port, request, b" " * 65536)


async def test_a_body_that_never_comes_is_408() -> None:
    async with running() as it:
        request = head(it.port, "POST", "/start_session", "Content-Length: 10")
        assert (await exchange(it.port, request)).startswith(b"HTTP/1.1 408 ")


async def test_random_bytes_are_answered_400_and_closed() -> None:
    async with running() as it:
        for junk in (b"\x80\x04\x95 pickle\r\n\r\n", b"\x00" * 4096 + b"\r\n\r\n", b"GET\r\n\r\n"):
            assert b"400" in (await exchange(it.port, junk)).split(b"\r\n")[0]


async def test_a_port_hidden_behind_two_hosts_is_refused() -> None:
    async with running() as it:
        request = head(it.port, "GET", "/session", "Host: evil.example")
        assert (await exchange(it.port, request)).startswith(b"HTTP/1.1 400 ")


async def test_idle_and_streaming_connections_never_hold_the_end() -> None:
    async with running() as it, httpx.AsyncClient() as client:
        base = f"http://127.0.0.1:{it.port}"
        assert (await client.get(f"{base}/health")).status_code == 200  # stays open: keep-alive
        half = socket.create_connection(("127.0.0.1", it.port), timeout=5)
        half.sendall(b"GET /hea")
        with half:
            async with client.stream("GET", f"{base}/events") as stream:
                assert stream.status_code == 200
                begun = time.monotonic()
                it.stage.close()
                it.server.stop()
                assert [part async for part in stream.aiter_raw()] == []
    assert time.monotonic() - begun < DRAIN_S


async def test_who_asks_for_the_head_of_the_stream_has_it_and_holds_no_place() -> None:
    async with running(ServerSettings(max_event_streams=1)) as it, httpx.AsyncClient() as client:
        url = f"http://127.0.0.1:{it.port}/events"
        answer = await client.head(url, timeout=5)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        async with client.stream("GET", url) as stream:
            assert stream.status_code == 200
            it.stage.close()


async def test_a_reader_who_leaves_is_forgotten_at_once() -> None:
    async with running(ServerSettings(max_event_streams=1)) as it, httpx.AsyncClient() as client:
        url = f"http://127.0.0.1:{it.port}/events"
        async with client.stream("GET", url) as first:
            assert first.status_code == 200
            refused = await client.get(url)
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "5"
        async with asyncio.timeout(5):
            while (await client.get(url.replace("/events", "/metrics"))).text.find(
                "reactor_event_streams 0.0"
            ) < 0:
                pass
        async with client.stream("GET", url) as again:
            assert again.status_code == 200
        it.stage.close()


async def test_a_reader_who_breaks_off_is_written_to_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def past() -> AsyncIterator[str]:
        for number in range(4000):
            yield f"id: {number}\ndata: {'x' * 300}\n\n"
        await asyncio.Event().wait()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStreamResponse(past(), is_over.set)(scope, receive, send)

    is_over, server = asyncio.Event(), HttpServer(app)
    (listener,) = open_sockets("127.0.0.1", 0)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve([listener]))
        await server.wait_until_up()
        reader = socket.create_connection(listener.getsockname(), timeout=5)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reader.sendall(head(0, "GET", "/events"))
        await asyncio.to_thread(reader.recv, 100)
        reader.close()  # reset: writes to it fail from now on
        await is_over.wait()
        server.stop()
    assert "socket.send()" not in caplog.text


async def test_the_answer_names_no_server_software() -> None:
    async with running() as it:
        answer = await exchange(it.port, head(it.port, "GET", "/health", "Connection: close"))
        headers, _, body = answer.partition(b"\r\n\r\n")
        assert b"uvicorn" not in headers.lower()
        assert json.loads(body)["state"] == "loading"


@pytest.fixture(params=["gone", "unreadable"])
def torn(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Shelf, Recording, str]]:
    """A recording of three segments, the second of which cannot be read, and why."""
    with open_shelf(tmp_path / "shelf") as shelf:
        recording = record(shelf, 6.0)
        segment = next(tmp_path.rglob("chunk_00001.m4s"))
        segment.unlink()
        if request.param == "unreadable":
            segment.mkdir()
        yield shelf, recording, "removed" if request.param == "gone" else "Is a directory"


async def test_a_clip_whose_rest_is_gone_ends_with_one_line(
    torn: tuple[Shelf, Recording, str], caplog: pytest.LogCaptureFixture
) -> None:
    shelf, recording, reason = torn
    async with running() as it:
        it.stage.recordings = shelf
        path = f"/clips/file?session_id={recording.id}&start=0&end=5.9"
        answer = await exchange(it.port, head(it.port, "GET", path))
    start, _, content = answer.partition(b"\r\n\r\n")
    assert start.startswith(b"HTTP/1.1 200")
    assert content.startswith(recording.head)
    assert f"content-length: {len(content)}".encode() not in start
    told = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert [each.exc_info for each in told] == [None]
    assert "clip_broken_off" in told[0].getMessage()
    assert reason in told[0].getMessage()
    assert recording.id not in caplog.text
