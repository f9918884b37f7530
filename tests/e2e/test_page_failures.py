"""The page before a model that fails: whenever it fails, the page says so and starts nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.e2e.built_in_page import PHASE
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.wire_client import wire_client
from tests.process.cli import MODEL as MODEL_TEXT
from tests.process.cli import write_model
from tests.waiting import until

MODEL = "tests.models.breaks_at_once:BreaksAtOnce"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

LOADS = MODEL_TEXT.replace('raise AssertionError("nothing loads a model here")', "pass")
NOTICE = "document.getElementById('notice').innerText"

# Holds what the page asks at a path until the test lets go.
HOLD = """
  const ask = globalThis.fetch;
  globalThis.release = null;
  globalThis.fetch = async (url, options) => {
    const isHeld = String(url).includes("PATH");
    if (isHeld) await new Promise((resolve) => (globalThis.release = resolve));
    return ask(url, options);
  };
"""


@pytest_asyncio.fixture
async def browser() -> AsyncIterator[Chromium]:
    async with Chromium() as chromium:
        yield chromium


async def see_the_failure(tab: Tab, served: Served, sessions: int) -> None:
    await tab.wait_for(f"{PHASE} === 'ended'")
    told = await tab.evaluate(NOTICE)
    assert "The model failed" in told
    assert "ValueError" in told
    assert "not connected" not in told
    await tab.evaluate("new Promise((resolve) => setTimeout(resolve, 1500))")
    assert await tab.evaluate(PHASE) == "ended"  # it waits for a person
    assert served.log().count("session_started") == sessions


async def test_a_model_that_breaks_in_its_first_step_says_so_each_time(browser: Chromium) -> None:
    with serving(MODEL) as served:
        tab = await browser.open(served.url + "/")
        await see_the_failure(tab, served, 1)
        served.wait_for_state("ready")
        await tab.click(".notice button")
        await tab.wait_for(f"{PHASE} !== 'ended'")
        await see_the_failure(tab, served, 2)
        assert served.state() == "ready"


@pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")
@pytest.mark.parametrize("path", ["/connections", "ice_servers", "sdp_params"])
async def test_a_session_that_fails_before_the_page_is_in_it(browser: Chromium, path: str) -> None:
    with serving(MODEL) as served:
        tab = await browser.open()
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=HOLD.replace("PATH", path))
        await tab.go(served.url + "/")
        await tab.wait_for("!!globalThis.release")
        async with wire_client(served.url, ("main_video", "video"), adopt=True) as other:
            await until(lambda: other.notices, 10)
        served.wait_for_state("ready")
        await tab.evaluate("globalThis.fetch = fetch, release()")
        await see_the_failure(tab, served, 1)


async def test_a_session_that_is_stopped_before_the_page_is_in_it(browser: Chromium) -> None:
    with serving("tests.models.painted:Painted") as served:
        tab = await browser.open()
        source = HOLD.replace("PATH", "/connections")
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=source)
        await tab.go(served.url + "/")
        await tab.wait_for("!!globalThis.release")
        await tab.evaluate("fetch('/stop_session', {method: 'POST', body: '{}'})")
        served.wait_for_state("ready")
        await tab.evaluate("release()")
        await tab.wait_for(f"{PHASE} === 'ended'")
        assert "The session was stopped" in await tab.evaluate(NOTICE)
        assert served.state() == "ready"


async def test_an_edit_that_breaks_the_first_step_says_so_and_its_mending_goes_on(
    browser: Chromium, tmp_path: Path
) -> None:
    model = write_model(tmp_path / "app", model=LOADS) / "model.py"
    with serving(tmp_path / "app", "--reload") as served:
        tab = await browser.open(served.url + "/")
        await tab.wait_for(f"{PHASE} === 'live'")
        body = "def inference(self):\n"
        model.write_text(LOADS.replace(body, f"{body}        raise ValueError('boom')\n"))
        await tab.wait_for(f"{PHASE} === 'ended' && {NOTICE}.includes('ValueError')", 30)
        assert "The model failed" in await tab.evaluate(NOTICE)
        model.write_text(LOADS)
        await until(lambda: served.log().count("model_ready") >= 3, 30)
        served.wait_for_state("ready")
        await tab.click(".notice button")
        await tab.wait_for(f"{PHASE} === 'live'")
