"""What strangers send beside a live viewer: to its UDP ports, and to HTTP.

What they may reach without a viewer is in ``tests/process/test_serve_safety``.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.bomb import pickled_bomb
from tests.e2e.process_figures import holdings
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.wire_client import SESSION, goes_on, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

VIDEO = ("main_video", "video")
CHUNK = b"2000\r\n" + b"x" * 8192 + b"\r\n"
STUN_REQUEST = struct.pack(">HHI12s", 1, 0, 0x2112A442, b"123456789012")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("tests.models.holds_a_level:HoldsALevel", "--log-level", "info") as served:
        yield served
        assert "Traceback" not in served.log()


@pytest.fixture(autouse=True)
def ready(served: Served) -> Iterator[None]:
    yield
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as caller:
        caller.sendall(b"POST /stop_session HTTP/1.0\r\nHost: localhost\r\n\r\n")
        caller.recv(1000)
    served.wait_for_state("ready")


def udp_places(pid: int) -> list[tuple[socket.AddressFamily, str, int]]:
    """Return family, address and port of every UDP socket of a process."""
    links = (os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir())
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    places = []
    for table, family in (("udp", socket.AF_INET), ("udp6", socket.AF_INET6)):
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[9] in inodes:
                host, _, port = fields[1].partition(":")
                words = [int(host[i : i + 8], 16) for i in range(0, len(host), 8)]
                packed = b"".join(struct.pack("=I", word) for word in words)
                places.append((family, socket.inet_ntop(family, packed), int(port, 16)))
    return places


async def test_packets_of_strangers_hurt_no_viewer(served: Served, tmp_path: Path) -> None:
    """The only other ports are a viewer's, and they know who it is."""
    pid = served.process.pid
    bomb = pickled_bomb(tmp_path / "marker")
    assert udp_places(pid) == []
    async with wire_client(served.url, VIDEO) as client:
        await until(lambda: client.frames["main_video"])
        before, places = holdings(pid), udp_places(pid)
        assert places
        assert all(address not in ("0.0.0.0", "::") for _, address, _ in places)
        shapes: list[Callable[[], bytes]] = [
            lambda: bomb,
            lambda: struct.pack(">Q", 1 << 30) + bomb,
            lambda: os.urandom(1200),
            lambda: b"\x16\xfe\xfd" + os.urandom(200),  # looks like DTLS
            lambda: b"\x80\x60" + os.urandom(300),  # looks like RTP
            lambda: b"\x80\xc8" + os.urandom(100),  # looks like RTCP
            lambda: STUN_REQUEST,
            lambda: STUN_REQUEST[:2] + b"\xff\xff" + STUN_REQUEST[4:] + os.urandom(64),
            lambda: b"",
        ]
        for number in range(300):
            for family, address, port in places:
                with socket.socket(family, socket.SOCK_DGRAM) as stranger:
                    stranger.sendto(shapes[number % len(shapes)](), (address, port))
            if number % 20 == 0:
                await asyncio.sleep(0)
        await goes_on(client)
        assert holdings(pid).resident_mb - before.resident_mb < 10
        for junk in (bomb, struct.pack(">I", len(bomb)) + bomb):
            for channel in client.channels.values():
                channel.send(junk)
        await goes_on(client)
    assert not (tmp_path / "marker").exists()


async def test_endless_bodies_and_evil_names_hurt_no_viewer(served: Served) -> None:
    """For what is no file: twenty at once, beside a viewer."""
    pid = served.process.pid
    async with wire_client(served.url, VIDEO) as client:
        await until(lambda: client.frames["main_video"])
        before = holdings(pid)
        targets = [
            "/start_session",
            "/stop_session",
            f"/sessions/{SESSION}/transport/webrtc/connections",
            f"/sessions/{SESSION}/uploads",
        ]
        calls = [asyncio.create_task(pour(served, "POST", target)) for target in targets * 5]
        await goes_on(client)
        answers = await asyncio.gather(*calls)
        assert {"413"} <= {*answers} <= {"413", "reset"}
        for path in (
            "/uploads/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/uploads/../../etc/passwd", "/uploads/%00",
            "/uploads/" + "a" * 4096, "/uploads/..%5c..%5cx", "/uploads/\u2025\u2215x",
        ):  # fmt: skip
            answer = await client.signaling.http.put(path, content=b"x")  # type: ignore[attr-defined]
            assert answer.status_code == 404, path
        await goes_on(client)
        assert holdings(pid).resident_mb - before.resident_mb < 20
        await until(lambda: holdings(pid).descriptors <= before.descriptors + 1, 12)


async def pour(served: Served, method: str, target: str) -> str:
    """Send a chunked body without end; return the status, or ``reset`` where none was read."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head.encode())
    answer = asyncio.create_task(reader.readline())
    try:
        async with asyncio.timeout(15):
            while not answer.done():
                writer.write(CHUNK)
                await writer.drain()
                await asyncio.sleep(0.01)
    except ConnectionError:  # it has had enough; the answer may have come before that
        pass
    finally:
        writer.close()
    try:
        return (await answer).split()[1].decode()
    except ConnectionError:
        return "reset"
