"""A viewer whose link gets bad: it goes on, on a lower rung, unnoticed by others, and comes back.

How soon and how smoothly is measured by ``benchmarks/congestion.py``, and to the millisecond on
simulated links in ``tests/unit/webrtc/test_ladder_on_links.py``; here the machine may be busy.
"""

import asyncio
import contextlib
import itertools
import re
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.e2e.bad_link import HEALTHY, BadLink, Shape
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.sdk_viewer import SdkViewer, viewing
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.test_open_standards import gstreamer, needs_gstreamer
from tests.e2e.wire_client import WireClient, wire_client
from tests.models.moves_a_lot import HEIGHT, WIDTH
from tests.waiting import until

TOP, LOW = (WIDTH, HEIGHT), (WIDTH // 2, HEIGHT // 2)
CAPPED = Shape(bits_per_s=600_000, queue_s=0.3, delay_s=0.02)
CAPPED_AND_LOSSY = Shape(bits_per_s=700_000, queue_s=0.3, delay_s=0.02, loss=0.03)
LOSING = Shape(loss=0.4, delay_s=0.02)
ADDRESS = own_address()
DEADLINE_S = 45.0
WATCHED_S = 6.0
VIDEO = ("main_video", "video")
ON_LOW = 'rung_viewers{rung="low",track="main_video"}'
CLIMBS = 'rung_changes_total{direction="up",track="main_video"}'

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(ADDRESS is None, reason="the host has only loopback"),
]


@pytest.fixture
def served() -> Iterator[Served]:
    with serving("tests.models.moves_a_lot:MovesALot") as running:
        yield running


@pytest.fixture
def link(served: Served) -> Iterator[BadLink]:
    assert ADDRESS is not None
    with BadLink(served.url, ADDRESS) as made:
        yield made


def figure(served: Served, name: str) -> float:
    """Return one line of the metrics."""
    text = served.get("/metrics")[1]
    found = re.search(rf"^reactor_{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def encoders(served: Served, rung: str) -> float:
    return sum(
        figure(served, f'encoders{{codec="{codec}",rung="{rung}",track="main_video"}}')
        for codec in ("VP8", "H264")
    )


def longest_gap_s(viewer: SdkViewer, since: int) -> float:
    """Return the longest time without a picture, from the one with number *since* on."""
    times = [at for at, _ in viewer.pictures[since:]]
    return max((b - a for a, b in itertools.pairwise(times)), default=float("inf"))


@pytest.mark.sdk
@pytest.mark.parametrize("shape", [CAPPED, CAPPED_AND_LOSSY], ids=["capped", "capped and lossy"])
async def test_a_bad_link_gets_a_lower_rung_and_nobody_else_notices(
    served: Served, link: BadLink, shape: Shape
) -> None:
    async with viewing(served.url) as good, viewing(link.url, good.reactor.session_id) as bad:
        await until(lambda: good.sizes[-1:] == bad.sizes[-1:] == [TOP])
        assert (encoders(served, "top"), encoders(served, "low")) == (1, 0)
        link.become(shape)
        await until(lambda: bad.sizes[-1] == LOW, DEADLINE_S)
        assert (encoders(served, "top"), encoders(served, "low")) == (1, 1)
        assert figure(served, ON_LOW) == 1
        seen = len(bad.pictures)
        await until(lambda: len(bad.pictures) > seen + 24, DEADLINE_S)  # what was queued is through
        here, there = len(good.pictures), len(bad.pictures)
        await asyncio.sleep(WATCHED_S)  # what is measured is a stretch of time
        assert len(bad.pictures) - there >= (len(good.pictures) - here) / 2
        assert longest_gap_s(bad, there) < 3 + longest_gap_s(good, here)
        assert set(bad.sizes[there:]) == {LOW}
        link.become(HEALTHY)
        await until(lambda: bad.sizes[-1] == TOP, DEADLINE_S)
        await until(lambda: figure(served, CLIMBS) >= 1, DEADLINE_S)
        assert set(good.sizes) == {TOP}
        await until(lambda: encoders(served, "low") == 0, DEADLINE_S)
        assert good.errors == bad.errors == []


def size(client: WireClient) -> tuple[int, int] | None:
    """Return the size of the last picture."""
    frames = client.frames["main_video"]
    return (frames[-1].width, frames[-1].height) if frames else None


@contextlib.asynccontextmanager
async def staying(*clients: WireClient) -> AsyncIterator[None]:
    """Give the sign of life that clients have to, until the block ends."""

    async def stay() -> None:
        while True:
            for client in clients:
                client.resume("main_video")
            await asyncio.sleep(3)

    task = asyncio.ensure_future(stay())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_link_that_loses_much_is_not_sent_more(served: Served, link: BadLink) -> None:
    async with (
        wire_client(served.url, VIDEO) as good,
        wire_client(link.url, VIDEO, adopt=True) as bad,
        staying(good, bad),
    ):
        await until(lambda: size(good) == size(bad) == TOP)
        link.become(LOSING)
        await until(lambda: figure(served, ON_LOW) == 1, DEADLINE_S)
        assert size(good) == TOP
        link.become(HEALTHY)
        await until(lambda: size(bad) == TOP and figure(served, ON_LOW) == 0, DEADLINE_S)


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_either_codec_changes_its_rung_in_mid_stream(
    served: Served, link: BadLink, codec: str
) -> None:
    async with (
        wire_client(served.url, VIDEO) as good,
        wire_client(link.url, VIDEO, adopt=True, codec=codec) as bad,
        staying(good, bad),
    ):
        await until(lambda: size(good) == size(bad) == TOP)
        link.become(CAPPED)
        await until(lambda: size(bad) == LOW, DEADLINE_S)
        made = f'encoders{{codec="{codec}",rung="low",track="main_video"}}'
        assert figure(served, made) == encoders(served, "low") == 1
        seen = len(bad.frames["main_video"])
        await until(lambda: len(bad.frames["main_video"]) > seen + 24, DEADLINE_S)
        link.become(HEALTHY)
        await until(lambda: size(bad) == TOP and figure(served, ON_LOW) == 0, DEADLINE_S)
        assert size(good) == TOP


@needs_gstreamer
async def test_a_whep_player_falls_and_comes_back(served: Served, link: BadLink) -> None:
    """It reports each few seconds, and takes no retransmission stream: it is tried less often."""
    async with gstreamer("player", f"{link.url}/whep") as player:
        await player.until("width", TOP[0])
        link.become(CAPPED)
        await player.until("width", LOW[0], within_s=2 * DEADLINE_S)
        link.become(HEALTHY)
        await player.until("width", TOP[0], within_s=2 * DEADLINE_S)
        await player.delete()


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
async def test_the_page_stays_and_comes_back(served: Served, link: BadLink) -> None:
    width = "document.querySelector('.tile.is-main video').videoWidth"
    async with Chromium() as browser:
        tab = await browser.open(f"{link.url}/")
        await tab.wait_for(f"{width} === {TOP[0]}", DEADLINE_S)
        link.become(CAPPED)
        await tab.wait_for(f"{width} === {LOW[0]}", DEADLINE_S)
        link.become(HEALTHY)
        await tab.wait_for(f"{width} === {TOP[0]}", DEADLINE_S)
        assert served.state() == "streaming"
