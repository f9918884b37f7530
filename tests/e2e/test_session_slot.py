"""The one session slot: free again however its user leaves, and unhurt by those who want it.

What a start does to a killed client is in ``test_takeover``.
"""

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.lingering_client import free_slot, lingering_client
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.strain import strain
from tests.e2e.wire_client import WEBRTC, HttpSignaling, WireClient, signaling_to, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

ROUNDS = 5
CONNECT_LIMIT_S = 1.0
VIDEO = ("main_video", "video")


class Guests:
    """A server and its guest book."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.served, self.broken = served, folder / "broken"
        self._book = folder / "book"

    @property
    def lines(self) -> list[str]:
        return self._book.read_text().splitlines() if self._book.exists() else []


@pytest.fixture
def guests(tmp_path: Path) -> Iterator[Guests]:
    limits = ("--connect-timeout", str(CONNECT_LIMIT_S), "--log-format", "json")
    book, broken = str(tmp_path / "book"), str(tmp_path / "broken")
    target = "tests.models.keeps_a_guest_book:KeepsAGuestBook"
    with serving(target, *limits, GUEST_BOOK=book, BROKEN=broken) as served:
        yield Guests(served, tmp_path)


async def test_a_clean_close_frees_the_slot_at_once(guests: Guests) -> None:
    for number in range(ROUNDS):
        async with wire_client(guests.served.url, VIDEO) as client:
            await client.call("set_level", {"level": 7})
            await until(lambda: client.frames["main_video"])
        left = time.monotonic()
        await until(lambda: guests.lines[-1] == "go", 2 * strain())
        async with signaling_to(guests.served.url) as signaling:
            await signaling.start_session()
            assert time.monotonic() - left < 2 * strain()
            await signaling.http.post("/stop_session", json={})
        await until(lambda: guests.lines.count("end") == 2 * (number + 1), 2 * strain())  # noqa: B023
        guests.served.wait_for_state("ready", timeout_s=2 * strain())
    visit, unused = ["begin 0 0", "come", "go", "end"], ["begin 0 0", "end"]
    assert guests.lines == (visit + unused) * ROUNDS


async def test_an_abandoned_offer_frees_the_slot_after_the_connect_limit(guests: Guests) -> None:
    for is_answer_awaited in (True, False):
        for _ in range(2):
            async with signaling_to(guests.served.url) as signaling:
                await free_slot(signaling)
                if is_answer_awaited:
                    await abandon_an_offer(signaling)
                else:
                    hang_up_while_offering(guests.served, await signaling.register())
                begun = time.monotonic()
                await free_slot(signaling)
                assert time.monotonic() - begun < CONNECT_LIMIT_S + strain()
                await signaling.http.post("/stop_session", json={})
            guests.served.wait_for_state("ready", timeout_s=2 * strain())
    assert set(guests.lines) == {"begin 0 0", "end"}
    assert guests.lines.count("begin 0 0") == guests.lines.count("end") == 8
    connections = guests.served.get("/metrics")[1].partition("\nreactor_connections ")[2]
    assert connections.startswith("0.0\n")


async def abandon_an_offer(signaling: HttpSignaling) -> None:
    client = WireClient(signaling, await signaling.register())
    client.receive(*VIDEO)
    client.open_channels()
    sdp = await client.make_offer()
    assert (await signaling.offer(client.connection_id, sdp, client.mapping)).status_code == 202
    await signaling.take_answer(client.connection_id)
    await client.close()


def hang_up_while_offering(served: Served, connection_id: int) -> None:
    """Post half an offer, and one whole, and be gone before any answer."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    path = f"{WEBRTC}/connections/{connection_id}/sdp_params"
    body = json.dumps({"sdp_offer": "v=0\r\n"}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    for sent in (body[:7], body):
        with socket.create_connection((host, int(port)), timeout=5) as client:
            client.sendall(head.encode() + sent)


@pytest.mark.timeout(60)
async def test_a_killed_client_frees_the_slot_when_nobody_asks(guests: Guests) -> None:
    """The long one: nobody wants the slot, so only its silence tells (35 s at most)."""
    async with lingering_client(guests.served) as client:
        client.send_signal(signal.SIGKILL)
        await client.wait()
        await until(lambda: guests.lines[-1] == "go", 35)
    assert guests.served.state() == "orphaned"
    async with signaling_to(guests.served.url) as signaling:
        await signaling.start_session()
    assert guests.lines == ["begin 0 0", "come", "go", "end", "begin 0 0"]


async def test_a_refused_start_and_a_failed_one_hurt_nobody_else(guests: Guests) -> None:
    """Sessions A (live), B (refused), C (its hook raises), D."""
    served = guests.served
    async with wire_client(served.url, VIDEO) as live, signaling_to(served.url) as other:
        await until(lambda: live.frames["main_video"])
        for _ in range(3):
            assert (await other.http.post("/start_session", json={})).status_code == 409
        seen = len(live.frames["main_video"])
        await until(lambda: len(live.frames["main_video"]) > seen + 12, 2 * strain())
        assert served.get("/health/ready")[0] == 200
        await other.http.post("/stop_session", json={})
    served.wait_for_state("ready", timeout_s=2 * strain())
    guests.broken.touch()
    async with signaling_to(served.url) as signaling:
        refused = await signaling.http.post("/start_session", json={})
        assert refused.status_code == 503
        assert "ValueError" in refused.json()["detail"]
        assert "cannot begin" not in refused.text
        assert served.get("/health/ready")[0] == 200
        guests.broken.unlink()
        await signaling.start_session()
    assert guests.lines[-1] == "begin 0 0"
    failures = [line for line in served.log().splitlines() if "cannot begin" in line]
    (failure,) = [json.loads(line) for line in failures]
    assert failure["level"] == "error"
    assert failure["session"]
