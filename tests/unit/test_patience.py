"""Connections that keep the server waiting are given up, in time and in number; others are not."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.types import Receive, Scope, Send
from tests.waiting import until

from reactor_runtime.http_server import HttpServer
from reactor_runtime.listening_socket import open_sockets
from reactor_runtime.patience import Patience, impatient_protocol

HEAD = b"GET /small HTTP/1.1\r\nHost: localhost\r\n"
LIMIT_S = 0.4


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer ``/small`` at once, ``/slow`` later, ``/huge`` with more than buffers hold."""
    path = scope["path"]
    if path == "/slow":
        await asyncio.sleep(3 * LIMIT_S)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(400 if path == "/huge" else 1):
        await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@asynccontextmanager
async def running(max_waiting: int = 100) -> AsyncIterator[int]:
    """A server of ``app``; the value is its port."""
    server = HttpServer(app, impatient_protocol(LIMIT_S, LIMIT_S, max_waiting))
    (listener,) = open_sockets("127.0.0.1", 0)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve([listener]))
        await server.wait_until_up()
        yield listener.getsockname()[1]
        server.stop()


def dribble(port: int, before: bytes = b"") -> float:
    """Send a head byte by byte after *before*; return after how many seconds it was closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(before)
        begun = time.monotonic()
        connection.settimeout(0.02)
        for byte in HEAD + b"X-Long: " + b"y" * 1000:
            try:
                connection.sendall(bytes([byte]))
                if not connection.recv(1 << 20):
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            raise AssertionError("it was never closed")
        return time.monotonic() - begun


async def test_a_head_that_does_not_come_in_time_is_not_waited_for() -> None:
    async with running() as port:
        silent = await asyncio.to_thread(dribble, port)
        assert silent >= LIMIT_S * 0.9
        whole = HEAD + b"\r\n"
        assert await asyncio.to_thread(dribble, port, whole) >= LIMIT_S * 0.9  # nor a second one


async def test_whoever_says_nothing_is_let_go_and_a_slow_answer_is_not() -> None:
    async with running() as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        slow = asyncio.create_task(client.get("/slow"))
        assert await reader.read() == b""
        writer.close()
        assert (await slow).status_code == 200
        assert (await client.get("/small")).status_code == 200


async def test_an_answer_that_nobody_reads_is_not_kept() -> None:
    async with running() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(HEAD.replace(b"small", b"huge") + b"\r\n")
        await asyncio.sleep(3 * LIMIT_S)  # it is not read meanwhile
        whole = bytearray()
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(1 << 20):
                whole += part
        assert len(whole) < 40_000_000
        writer.close()


async def test_of_too_many_that_wait_the_first_is_let_go() -> None:
    async with running(max_waiting=4) as port:
        slow_reader, slow_writer = await asyncio.open_connection("127.0.0.1", port)
        slow_writer.write(HEAD.replace(b"small", b"slow") + b"\r\n")
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(6)]
        for reader, _ in pairs[:2]:
            assert await reader.read() == b""
        pairs[5][1].write(HEAD + b"\r\n")
        assert (await pairs[5][0].read(12)) == b"HTTP/1.1 200"
        assert (await slow_reader.read(12)) == b"HTTP/1.1 200"  # it waited for us, not we for it
        for _, writer in [*pairs, (slow_reader, slow_writer)]:
            writer.close()


async def test_who_begins_anew_waits_anew() -> None:
    given_up: list[str] = []
    patience = Patience(0.3)
    patience.begin("a", lambda: given_up.append("a"))
    patience.begin("b", lambda: given_up.append("b"))
    patience.begin("a", lambda: given_up.append("a again"))
    patience.end("nobody")
    await until(lambda: len(given_up) == 2)
    assert given_up == ["b", "a again"]
    patience.begin("c", lambda: given_up.append("c"))
    patience.begin("d", lambda: given_up.append("d"))
    patience.end("c")
    await until(lambda: len(given_up) == 3)
    assert given_up == ["b", "a again", "d"]
