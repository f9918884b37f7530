"""Ways to a viewer: quick when a server is silent, told when there is none."""

import asyncio
import contextlib
import json
import re
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.strain import strain
from tests.e2e.wire_client import WEBRTC, HttpSignaling, WireClient, signaling_to, wire_client
from tests.lonely_host import needs_namespace, run_lonely
from tests.waiting import until

MODEL = "tests.models.keeps_a_guest_book:KeepsAGuestBook"
VIDEO = ("main_video", "video")

needs_network = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")


@contextlib.asynccontextmanager
async def offering(
    signaling: HttpSignaling, *, unreachable: bool = False
) -> AsyncIterator[tuple[WireClient, str, float]]:
    """Offer; gives the client, the answer and how long it took."""
    await signaling.start_session()
    client = WireClient(signaling, await signaling.register())
    client.receive(*VIDEO)
    client.open_channels()
    sdp = await client.make_offer()
    if unreachable:  # only addresses of a network that no one is on
        sdp = re.sub(r"(a=candidate:\S+ 1 udp \d+) \S+", r"\1 198.51.100.1", sdp)
    began = time.monotonic()
    assert (await signaling.offer(client.connection_id, sdp, client.mapping)).status_code == 202
    answer = await signaling.take_answer(client.connection_id)
    try:
        yield client, answer or "", time.monotonic() - began
    finally:
        await client.close()


@needs_network
async def test_a_silent_stun_server_delays_neither_answer_nor_health(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((own_address() or "", 0))
        stun = "stun:{}:{}".format(*silent.getsockname())
        book, broken = str(tmp_path / "book"), str(tmp_path / "broken")
        with serving(MODEL, "--stun", stun, GUEST_BOOK=book, BROKEN=broken) as served:
            stop = asyncio.Event()
            polling = asyncio.create_task(health_waits_s(served, stop))
            async with (
                signaling_to(served.url) as signaling,
                offering(signaling) as (client, answer, took_s),
            ):
                assert took_s < 1.0 * strain()
                await client.accept(answer)
            stop.set()
            waits = sorted(await polling)
            assert waits[int(0.9 * len(waits))] < 0.1 * strain()
        assert silent.recv(2048)  # it was asked


async def health_waits_s(served: Served, stop: asyncio.Event) -> list[float]:
    waits = []
    async with httpx.AsyncClient(base_url=served.url, trust_env=False) as http:
        await http.get("/health")
        while not stop.is_set():
            began = time.monotonic()
            assert (await http.get("/health")).status_code == 200
            waits.append(time.monotonic() - began)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.02)
    return waits


@needs_network
async def test_where_there_is_no_path_everybody_hears_it_within_the_limit(tmp_path: Path) -> None:
    book, broken = tmp_path / "book", tmp_path / "broken"
    limit = ("--connect-timeout", "1.5")
    with serving(MODEL, *limit, GUEST_BOOK=str(book), BROKEN=str(broken)) as served:
        async with signaling_to(served.url) as signaling:
            begun = time.monotonic()
            async with offering(signaling, unreachable=True) as (client, answer, _):
                assert "a=candidate" in answer
                url = f"{WEBRTC}/connections/{client.connection_id}/sdp_params"
                told = await first_that_is_not(202, signaling, url)
                assert time.monotonic() - begun < 3 * strain()
                assert "no network path" in told.json()["detail"]
            failure = await first_event(signaling, "error")
            assert "no network path" in failure["detail"]["message"]
            assert failure["detail"]["conn_id"] == client.connection_id
            assert "--turn" in served.log()
            await signaling.start_session()  # the slot is free
        assert book.read_text().splitlines() == ["begin 0 0", "end", "begin 0 0"]
        assert "Traceback" not in served.log()


async def first_that_is_not(status: int, signaling: HttpSignaling, url: str) -> httpx.Response:
    async with asyncio.timeout(10):
        while (answer := await signaling.http.get(url)).status_code == status:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    return answer


async def first_event(signaling: HttpSignaling, name: str) -> dict[str, Any]:
    async with signaling.http.stream("GET", "/events?since=0") as events:
        async for line in events.aiter_lines():
            if line.startswith("data: ") and (event := json.loads(line[6:]))["event"] == name:
                return dict(event)
    raise AssertionError(name)


@needs_network
async def test_a_public_address_and_the_ports_reach_the_answer(tmp_path: Path) -> None:
    """What a deployment says of its network is what clients are told."""
    flags = ("--public-address", "203.0.113.7", "--port-range", "52000-52040")
    book, broken = str(tmp_path / "book"), str(tmp_path / "broken")
    with serving(MODEL, *flags, GUEST_BOOK=book, BROKEN=broken) as served:
        async with signaling_to(served.url) as signaling, offering(signaling) as (client, sdp, _):
            lines = re.findall(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ (\w+)", sdp)
            assert ("203.0.113.7", "srflx") in {(address, kind) for address, _, kind in lines}
            assert all(52_000 <= int(port) <= 52_040 for _, port, _ in lines)
            await client.accept(sdp)


@needs_namespace
def test_a_host_that_has_only_loopback_says_so_and_serves_who_is_on_it(tmp_path: Path) -> None:
    book, broken = str(tmp_path / "book"), str(tmp_path / "broken")
    run_lonely(__name__, "only_loopback", GUEST_BOOK=book, BROKEN=broken)


async def only_loopback() -> None:
    """What the test above runs where nothing but loopback exists."""
    import aioice.ice
    from tests.unit.webrtc.offers import application, offer

    with serving(MODEL, "--connect-timeout", "1") as served:
        await until(
            lambda: "no_network" in served.log() and "loopback" in served.log(), 2 * strain()
        )
        async with signaling_to(served.url) as signaling:
            await signaling.start_session()
            began = time.monotonic()
            refused = await signaling.offer(await signaling.register(), offer(application("0")))
            assert (refused.status_code, "loopback" in refused.text) == (503, True)
            assert time.monotonic() - began < 2 * strain()
            await signaling.http.post("/stop_session", json={})
        served.wait_for_state("ready")
        aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
