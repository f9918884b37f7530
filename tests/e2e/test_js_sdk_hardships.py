"""The published JS SDK under floods, kills, files too large, and round after round."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.e2e.chromium import CdpError, Chromium, Tab, find_chromium
from tests.e2e.js_viewer import BELOW, CENTRE, frames, message, see, send, viewer_page, viewing
from tests.e2e.process_figures import holdings
from tests.e2e.serving import Served, serving
from tests.e2e.strain import strain
from tests.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

FLOOD = 20_000
WARM_UP, ROUNDS = 3, 10


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def server(uploads: Path) -> Iterator[Served]:
    flags = ("--max-upload", "1M", "--uploads-path", str(uploads))
    with serving("tests.models.painted:Painted", *flags) as served:
        yield served
        assert "Traceback" not in served.log()


@pytest.fixture(scope="module")
def page(server: Served) -> Iterator[str]:
    with viewer_page(server) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Chromium, page: str, server: Served) -> AsyncIterator[Tab]:
    async with viewing(browser, page, server) as viewer:
        await frames(viewer, 5)
        yield viewer


async def test_the_tone_is_heard_at_its_pitch(tab: Tab) -> None:
    await tab.show()
    await tab.wait_for("!!viewer.tracks.tone")
    await tab.wait_for("viewer.pitch('tone').then((hz) => Math.abs(hz - 440) < 8)")


async def test_a_flood_slows_nobody_and_the_last_value_counts(tab: Tab, server: Served) -> None:
    before = holdings(server.process.pid)
    flood = f"""(async () => {{
      for (let i = 0; i < {FLOOD}; i += 1) {{
        await viewer.reactor.sendCommand("set_red", {{ red: i % 128 }});
        if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
      }}
      await viewer.reactor.sendCommand("set_red", {{ red: 220 }});
    }})()"""
    seen = await tab.evaluate("viewer.frames")
    pouring = asyncio.create_task(tab.evaluate(flood))
    while not pouring.done():
        status, _ = await asyncio.to_thread(server.get, "/health", 2 * strain())
        assert status == 200
        await asyncio.wait({pouring}, timeout=0.1)
    await pouring
    assert await tab.evaluate("viewer.frames") > seen
    await see(tab, CENTRE, 220, 40, 120, timeout_s=60)  # the rest waits where it is sent
    await send(tab, "ask", text="still here")
    assert await message(tab, "answer") == {"text": "STILL HERE"}
    assert await tab.evaluate("viewer.status") == "ready"
    assert holdings(server.process.pid).resident_mb - before.resident_mb < 30


async def test_a_file_past_the_limit_is_refused_and_the_next_one_taken(
    tab: Tab, uploads: Path
) -> None:
    upload = "viewer.reactor.uploadFile(new File([new Uint8Array(SIZE).fill(200)], 'a.raw'))"
    with pytest.raises(CdpError, match=r"1 MiB|413"):
        await tab.evaluate(upload.replace("SIZE", str((1 << 20) + 1)))
    stencil = upload.replace("SIZE", str(1 << 20))
    await tab.evaluate(
        f"{stencil}.then((stencil) => viewer.reactor.sendCommand('set_stencil', {{ stencil }}))"
    )
    await see(tab, BELOW, 200, 200, 200)
    assert sizes_in(uploads) == [1 << 20]


def sizes_in(folder: Path) -> list[int]:
    """Return the sizes of what clients have sent."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return [path.stat().st_size for path in files]


async def test_a_killed_browser_leaves_the_session_to_the_next(
    page: str, browser: Chromium, server: Served
) -> None:
    server.wait_for_state("ready")
    async with Chromium() as doomed:
        gone = await doomed.open(page)
        await gone.wait_for("globalThis.viewer")
        await gone.evaluate("viewer.reactor.connect()")
        await frames(gone, 5)
        await send(gone, "set_red", red=220)
        await see(gone, CENTRE, 220, 40, 120)
        doomed.kill()
        tab = await browser.open(page)
        await tab.wait_for("globalThis.viewer")
        async with asyncio.timeout(15):
            while not await connects(tab):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.2)  # it is taken for alive while it may only hiccup
        await frames(tab, 5)
        await see(tab, CENTRE, 40, 40, 120)
        await tab.evaluate("viewer.reactor.disconnect()")
    server.wait_for_state("ready")
    await tab.close()


async def connects(tab: Tab) -> bool:
    try:
        await tab.evaluate("viewer.reactor.connect()")
    except CdpError as error:
        if "409" not in str(error):
            raise
        return False
    return True


async def test_rounds_of_coming_back_and_leaving_hold_nothing(
    browser: Chromium, page: str, server: Served
) -> None:
    pid = server.process.pid
    async with viewing(browser, page, server) as tab:
        await tab.evaluate("viewer.reactor.disconnect()")
        for number in range(WARM_UP + ROUNDS):
            if number == WARM_UP:
                server.wait_for_state("ready")
                before, tasks = holdings(pid), figure(server, "reactor_tasks")
            await tab.evaluate("viewer.reactor.connect()")
            await frames(tab, 3)
            await tab.evaluate("viewer.reactor.disconnect(true)")
            await tab.evaluate("viewer.reactor.reconnect()")
            await frames(tab, 3)
            await tab.evaluate("viewer.reactor.disconnect()")
            await asyncio.to_thread(server.wait_for_state, "ready")

    await until(lambda: holdings(pid).are_flat(before), 20)
    await until(lambda: figure(server, "reactor_tasks") <= tasks, 20)
    assert holdings(pid).resident_mb < before.resident_mb * 1.05 + 4
    assert figure(server, "reactor_connections") == figure(server, "reactor_clients") == 0


def figure(server: Served, name: str) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])
