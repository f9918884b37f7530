"""Files that strangers and clumsy clients send beside a live viewer.

What becomes of one request is in ``tests/unit/http/test_upload_routes``.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.process_figures import holdings
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.wire_client import SESSION, goes_on, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

MODEL = "tests.models.hashes_files:HashesFiles"
LIMIT = 8 << 20
FLAGS = ("--max-upload", "8M", "--max-session-uploads", "200M", "--min-free-disk", "1M")
VIDEO = ("main_video", "video")
PIECE = b"10000\r\n" + b"x" * 65536 + b"\r\n"
HUGE_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\x75\x30" * 2 + b"\x08\x02" + b"\0" * 40


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(MODEL, *FLAGS, "--uploads-path", str(tmp_path)) as served:
        yield served
        assert "Traceback" not in served.log()
        assert served.stop() == 0
    assert list(tmp_path.iterdir()) == []


def files_in(folder: Path) -> list[Path]:
    """Clients' files in *folder*."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def on_disk(folder: Path) -> int:
    """Bytes of clients' files in *folder*."""
    total = 0
    for path in files_in(folder):
        with contextlib.suppress(FileNotFoundError):  # on its way out
            total += path.stat().st_size
    return total


async def reserve(http: httpx.AsyncClient, size: int, **said: Any) -> httpx.Response:
    body = {"name": "a", "mime_type": "x/y", "size": size, **said}
    return await http.post(f"/sessions/{SESSION}/uploads", json=body)


async def path_for(http: httpx.AsyncClient, size: int) -> str:
    return f"/{(await reserve(http, size)).raise_for_status().json()['path']}"


async def pour(served: Served, path: str, pieces: int) -> str:
    """Send a chunked body of so many pieces, 0 for ever; return the status, ``reset`` if none.

    A body that has an end breaks off there, without saying so.
    """
    host, _, port = served.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = asyncio.create_task(reader.readline())
    try:
        writer.write(head.encode())
        sent = 0
        while not answer.done() and (pieces == 0 or sent < pieces):
            writer.write(PIECE)
            await writer.drain()
            sent += 1
            await asyncio.sleep(0.002)
    except ConnectionError:  # it has had enough; the answer may have come before that
        pass
    finally:
        writer.close()
    if pieces:
        answer.cancel()
        return "broken off"
    try:
        return (await answer).split()[1].decode()
    except (ConnectionError, IndexError):
        return "reset"


async def test_twenty_endless_files_at_once_hurt_no_viewer(served: Served, tmp_path: Path) -> None:
    pid = served.process.pid
    async with wire_client(served.url, VIDEO) as client:
        http: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        await until(lambda: client.frames["main_video"])
        before = holdings(pid)
        paths = [await path_for(http, LIMIT) for _ in range(20)]
        calls = [asyncio.create_task(pour(served, path, 0)) for path in paths]
        await goes_on(client)
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*calls)
        assert {"413"} <= {*answers} <= {"413", "reset"}
        await until(lambda: on_disk(tmp_path) == 0, 5)
        assert holdings(pid).resident_mb - before.resident_mb < 80  # two batches each, at most
        await goes_on(client)
        await until(lambda: holdings(pid).descriptors <= before.descriptors + 1, 15)


async def test_files_broken_off_half_way_leave_nothing(served: Served, tmp_path: Path) -> None:
    async with wire_client(served.url, VIDEO) as client:
        http: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        paths = [await path_for(http, LIMIT) for _ in range(20)]
        calls = [asyncio.create_task(pour(served, path, 60)) for path in paths]
        await until(lambda: on_disk(tmp_path) > 0, 10)
        await asyncio.gather(*calls)
        await until(lambda: on_disk(tmp_path) == 0, 5)
        assert (await http.put(paths[0], content=b"x" * LIMIT)).status_code == 200
        await goes_on(client)


async def test_a_tiny_picture_that_claims_to_be_huge_is_refused(
    served: Served, tmp_path: Path
) -> None:
    async with wire_client(served.url, VIDEO) as client:
        http: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        refused = await http.put(await path_for(http, len(HUGE_PNG)), content=HUGE_PNG)
        assert refused.status_code == 413
        assert "30000 x 30000" in refused.json()["detail"]
        await until(lambda: on_disk(tmp_path) == 0, 5)


async def test_a_session_takes_so_much_and_the_next_begins_anew(
    served: Served, tmp_path: Path
) -> None:
    async with wire_client(served.url, VIDEO) as client:
        http: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        for _ in range(25):
            sent = await http.put(await path_for(http, LIMIT), content=b"x" * LIMIT)
            assert sent.status_code == 200
        over = await reserve(http, LIMIT)
        assert (over.status_code, "max_session_uploads" in over.json()["detail"]) == (413, True)
        assert on_disk(tmp_path) == 25 * LIMIT
        (await http.post("/stop_session")).raise_for_status()
    await until(lambda: on_disk(tmp_path) == 0, 10)
    served.wait_for_state("ready")
    async with wire_client(served.url, VIDEO) as client:
        again: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        assert (await reserve(again, LIMIT)).status_code == 201


async def test_evil_names_are_labels_and_files_lie_under_our_names(
    served: Served, tmp_path: Path
) -> None:
    names = ["../../x", "/etc/passwd", "..\\x", "a\0b", ".", "..", "a" * 4096, "\u2025\u2215x"]
    async with wire_client(served.url, VIDEO) as client:
        http: httpx.AsyncClient = client.signaling.http  # type: ignore[attr-defined]
        files = []
        for name in names:
            place = (await reserve(http, 3, name=name)).raise_for_status().json()
            assert (await http.put(f"/{place['path']}", content=b"abc")).status_code == 200
            files.append(
                {"upload_id": place["presigned_id"], "name": "", "mime_type": "", "size": 3}
            )
        answer = await client.call("hash_all", {"files": files})
        assert list(answer.message.data["names"]) == names
        kept = [path.name for path in files_in(tmp_path)]
        assert len(kept) == len(names)
        assert all(len(name) == 32 and name.isalnum() for name in kept)
        assert (await reserve(http, 3, name="")).status_code == 400


async def test_a_server_that_is_told_to_stop_waits_for_no_sender(tmp_path: Path) -> None:
    with serving(MODEL, *FLAGS, "--uploads-path", str(tmp_path)) as served:
        async with httpx.AsyncClient(base_url=served.url, trust_env=False) as http:
            (await http.post("/start_session", json={})).raise_for_status()
            sending = asyncio.create_task(pour(served, await path_for(http, LIMIT), 0))
            await until(lambda: on_disk(tmp_path) > 0, 10)
            assert await asyncio.to_thread(served.stop) == 0
            assert await sending in ("404", "413", "reset")
    assert os.listdir(tmp_path) == []


async def test_sessions_full_of_files_leave_nothing_held(served: Served, tmp_path: Path) -> None:
    pid, data = served.process.pid, b"x" * (1 << 20)
    before = None
    async with httpx.AsyncClient(base_url=served.url, trust_env=False, timeout=20) as http:
        for number in range(30):
            (await http.post("/start_session", json={})).raise_for_status()
            for size in (1 << 20, 1 << 19):  # the second does not fit what was reserved
                answer = await http.put(await path_for(http, size), content=data)
                assert answer.status_code == (200 if size == len(data) else 400)
            (await http.post("/stop_session")).raise_for_status()
            served.wait_for_state("ready")
            if number == 4:
                before = holdings(pid)
    assert before is not None
    await until(lambda: on_disk(tmp_path) == 0, 5)
    after = holdings(pid)
    assert after.are_flat(before)
    assert after.resident_mb - before.resident_mb < 5


async def test_a_killed_server_is_swept_by_the_next_beside_a_live_one(tmp_path: Path) -> None:
    """What is left lies until the next start; what lives is left alone."""

    @contextlib.asynccontextmanager
    async def with_a_file() -> AsyncIterator[Served]:
        with serving(MODEL, *FLAGS, "--uploads-path", str(tmp_path)) as served:
            async with httpx.AsyncClient(base_url=served.url, trust_env=False) as http:
                (await http.post("/start_session", json={})).raise_for_status()
                sent = await http.put(await path_for(http, 1000), content=b"x" * 1000)
                assert sent.status_code == 200
                yield served

    async with with_a_file() as live:
        async with with_a_file() as killed:
            await until(lambda: on_disk(tmp_path) == 2000, 5)
            os.kill(killed.process.pid, signal.SIGKILL)
            killed.process.wait(10)
        assert on_disk(tmp_path) == 2000
        with serving(MODEL, *FLAGS, "--uploads-path", str(tmp_path)):
            await until(lambda: on_disk(tmp_path) == 1000, 10)
        assert live.state() == "waiting"
        assert live.stop() == 0
    assert os.listdir(tmp_path) == []
