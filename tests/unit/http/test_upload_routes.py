"""Files over a real socket: what is refused before it is read, and senders that misbehave."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.unit.session.room import Room
from tests.waiting import until

from reactor_runtime.http.app import create_app
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.http_server import HttpServer
from reactor_runtime.listening_socket import open_sockets
from reactor_runtime.session.descriptor import SESSION_ID
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.uploads.upload_settings import UploadSettings

LIMIT = 2 << 20
RESERVE = f"/sessions/{SESSION_ID}/uploads"


@dataclass
class Door:
    """A server with a running session, and the folder its files go to."""

    room: Room
    port: int
    folder: Path
    http: httpx.AsyncClient

    @property
    def files(self) -> list[Path]:
        return [p for p in self.folder.rglob("*") if p.is_file() and p.name != ".lock"]

    async def reserve(self, size: int) -> str:
        """Reserve a file and return the path to send it to."""
        body = {"name": "a", "size": size, "mime_type": "a/b"}
        answer = (await self.http.post(RESERVE, json=body)).raise_for_status().json()
        return f"/{answer['path']}"

    def head(self, path: str, *lines: str) -> bytes:
        first = (f"PUT {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}")
        return "\r\n".join((*first, *lines, "", "")).encode()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    async def answer(self, *parts: bytes) -> bytes:
        """Send *parts* and return the first line of the answer."""
        return await asyncio.to_thread(self._answer, parts)

    def _answer(self, parts: tuple[bytes, ...]) -> bytes:
        with self.connect() as connection:
            with suppress(ConnectionError):  # it has had enough: the answer is there
                for part in parts:
                    connection.sendall(part)
            return first_line(connection)


def first_line(connection: socket.socket) -> bytes:
    answer = b""
    while b"\r\n" not in answer and (part := connection.recv(65536)):
        answer += part
    return answer.split(b"\r\n")[0]


def chunk(size: int) -> bytes:
    return b"%x\r\n" % size + b"x" * size + b"\r\n"


CHUNKED = "Transfer-Encoding: chunked"
END = b"0\r\n\r\n"


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    uploads = UploadSettings(
        parent=tmp_path, max_file_bytes=LIMIT, min_free_bytes=0, stall_timeout_s=0.5
    )
    async with serving(uploads) as door:
        yield door


@asynccontextmanager
async def serving(uploads: UploadSettings) -> AsyncIterator[Door]:
    """A server whose session has begun."""
    assert uploads.parent is not None
    room = Room(SessionSettings(uploads=uploads))
    await room.ready()
    await room.started()
    stage = Stage(ServerSettings(), room.metrics)
    stage.open(room.session)
    server = HttpServer(create_app(stage))
    (listener,) = open_sockets("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve([listener]))
        await server.wait_until_up()
        base = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=20) as http:
            yield Door(room, port, uploads.parent, http)
        await room.session.close()
        server.stop()


async def test_a_file_arrives_whole_with_a_length_or_in_chunks(door: Door) -> None:
    data = os.urandom(LIMIT)

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 100_000):
            yield data[start : start + 100_000]

    for content in (data, parts()):
        path = await door.reserve(len(data))
        assert (await door.http.put(path, content=content)).status_code == 200
    assert [file.read_bytes() == data for file in door.files] == [True, True]


async def test_a_length_that_is_wrong_is_refused_before_anything_is_sent(door: Door) -> None:
    path = await door.reserve(3)
    for length, status in ((2, b"400"), (4, b"400"), (LIMIT + 1, b"413"), (10**18, b"413")):
        line = await door.answer(
            door.head(path, f"Content-Length: {length}", "Expect: 100-continue")
        )
        assert line.startswith(b"HTTP/1.1 " + status), length
    assert door.files == []


async def test_a_chunked_file_past_the_limit_is_413(door: Door) -> None:
    """The limit holds where no length is said."""
    path = await door.reserve(LIMIT)
    line = await door.answer(door.head(path, CHUNKED), chunk(LIMIT), chunk(1), END)
    assert line.startswith(b"HTTP/1.1 413 ")
    await until(lambda: door.files == [])


async def test_a_chunked_file_larger_than_reserved_is_400(door: Door) -> None:
    path = await door.reserve(10)
    line = await door.answer(door.head(path, CHUNKED), chunk(11), END)
    assert line.startswith(b"HTTP/1.1 400 ")


async def test_an_endless_file_is_cut_off_and_answered(door: Door) -> None:
    path = await door.reserve(LIMIT)
    began = time.monotonic()
    line = await door.answer(door.head(path, CHUNKED), *[chunk(65536)] * 2000)
    assert line == b"" or line.startswith(b"HTTP/1.1 413 ")
    assert time.monotonic() - began < 15
    await until(lambda: door.files == [])


async def test_a_large_body_for_nothing_is_answered(door: Door) -> None:
    head = door.head("/uploads/" + "0" * 32, f"Content-Length: {1 << 20}")
    assert (await door.answer(head, b"x" * (1 << 20))).startswith(b"HTTP/1.1 404 ")


async def test_a_sender_that_stalls_is_told_408(door: Door) -> None:
    path = await door.reserve(10)
    line = await door.answer(door.head(path, "Content-Length: 10"), b"half ")
    assert line.startswith(b"HTTP/1.1 408 ")
    await until(lambda: door.files == [])
    assert (await door.http.put(path, content=b"x" * 10)).status_code == 200


async def test_a_sender_that_goes_away_leaves_nothing(door: Door) -> None:
    path = await door.reserve(LIMIT)
    with door.connect() as connection:
        await asyncio.to_thread(connection.sendall, door.head(path, CHUNKED) + chunk(1 << 20))
        await until(lambda: door.files != [])
    await until(lambda: door.files == [])
    await until(lambda: "broken_off" in door.room.metrics.render().decode())
    assert (await door.http.put(path, content=b"x" * LIMIT)).status_code == 200


async def test_an_ending_session_cuts_its_senders_off(door: Door) -> None:
    path = await door.reserve(LIMIT)
    with door.connect() as connection:
        await asyncio.to_thread(connection.sendall, door.head(path, CHUNKED) + chunk(1 << 20))
        await until(lambda: door.files != [])
        await door.room.session.stop_session()
        line = await asyncio.to_thread(first_line, connection)
    assert line.startswith(b"HTTP/1.1 404 ")
    await until(lambda: door.files == [])


@pytest.mark.parametrize(
    "path",
    [
        "/uploads/%2e%2e%2fx",
        "/uploads/..",
        "/uploads/%00",
        "/uploads/" + "a" * 4096,
        "/uploads/%ff",
    ],
)
async def test_addresses_that_nobody_was_given_are_404(door: Door, path: str) -> None:
    line = await door.answer(door.head(path, "Content-Length: 1"), b"x")
    assert line.split()[1] in (b"404", b"405")
    assert door.files == []


async def test_the_address_is_as_the_caller_reaches_us(door: Door) -> None:
    body = {"name": "a", "size": 3, "mime_type": "a/b"}
    headers = {"Host": "localhost:9", "X-Forwarded-Proto": "https"}
    place = (await door.http.post(RESERVE, json=body, headers=headers)).json()
    assert place["presigned_url"] == f"https://localhost:9/{place['path']}"


async def test_too_many_and_no_room_have_answers_of_their_own(tmp_path: Path) -> None:
    body = {"name": "a", "size": 3, "mime_type": "a/b"}
    few = UploadSettings(parent=tmp_path, min_free_bytes=0, reservation_burst=1)
    async with serving(few) as door:
        assert (await door.http.post(RESERVE, json=body)).status_code == 201
        refused = await door.http.post(RESERVE, json=body)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    async with serving(UploadSettings(parent=tmp_path, min_free_bytes=1 << 60)) as door:
        refused = await door.http.post(RESERVE, json=body)
        assert refused.status_code == 507
        assert "no room" in refused.json()["detail"]


async def test_pages_from_elsewhere_may_not_send_and_ours_may(door: Door) -> None:
    path = await door.reserve(3)
    evil = {"Origin": "https://evil.example"}
    assert (await door.http.put(path, content=b"abc", headers=evil)).status_code == 403
    body = {"name": "a", "size": 3, "mime_type": "a/b"}
    assert (await door.http.post(RESERVE, json=body, headers=evil)).status_code == 403
    ours = {"Origin": "http://localhost:3000"}
    asked = {**ours, "Access-Control-Request-Method": "PUT"}
    preflight = await door.http.options(path, headers=asked)
    assert (preflight.status_code, "PUT" in preflight.headers["Access-Control-Allow-Methods"]) == (
        200,
        True,
    )
    sent = await door.http.put(path, content=b"abc", headers=ours)
    assert sent.status_code == 200
    assert sent.headers["Access-Control-Allow-Origin"] == ours["Origin"]
