"""A viewer whose network fails for five seconds: it comes back to the same session, as it was."""

import asyncio
import json
import time
import urllib.request
from collections.abc import Iterator

import pytest
from tests.e2e.built_in_page import LIVE, PICTURE_BEGAN, PLAYED
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.far_away import DEADLINE_S, far_away
from tests.e2e.networks import SERVER, Cut, Networks, inside, networks
from tests.e2e.serving import ROOT, Served, serving

CUT_S = 5.0
RED = """(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 18 });
  const context = canvas.getContext("2d");
  context.drawImage(document.querySelector(".tile.is-main video"), 0, 0, 32, 18);
  return context.getImageData(10, 10, 1, 1).data[0];
})()"""

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def net() -> Iterator[Networks]:
    with networks() as made:
        yield made


@pytest.fixture(params=list(Cut), ids=str)
def cut(request: pytest.FixtureRequest) -> Cut:
    return Cut(request.param)


def session_number(served: Served) -> int:
    return int(json.loads(served.get("/session")[1])["session_number"])


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
async def test_the_page_comes_back(net: Networks, cut: Cut) -> None:
    with serving("tests.models.painted:Painted", network=net.server, host=SERVER) as served:
        async with Chromium(network=net.client) as browser:
            tab = await browser.open(f"{served.url}/")
            await tab.wait_for(PICTURE_BEGAN)
            await tab.drag_range("[data-field=red] input[type=range]", 0.95)
            await tab.wait_for(f"{RED} > 200")
            session = session_number(served)
            with net.cut(cut):
                await asyncio.sleep(0.5)  # what is on its way arrives
                shown = await tab.evaluate(PLAYED)
                await asyncio.sleep(CUT_S - 0.5)
                assert await tab.evaluate(PLAYED) == shown
            await tab.wait_for(f"{LIVE} && {PLAYED} !== {shown} && {RED} > 200", DEADLINE_S)
            assert (served.state(), session_number(served)) == ("streaming", session)
            await tab.click("[data-command=announce]")  # the page can still be heard
            feed = "document.getElementById('feed').innerText"
            await tab.wait_for(f"{feed}.includes('to everybody')", DEADLINE_S)


@pytest.fixture
def steered(net: Networks) -> Iterator[Served]:
    folder = ROOT / "tests" / "models"
    with serving("steered:Steered", cwd=folder, network=net.server, host=SERVER) as served:
        yield served


@pytest.mark.sdk
def test_the_python_sdk_comes_back(net: Networks, steered: Served, cut: Cut) -> None:
    with far_away(net, steered.url) as viewer:
        session = session_number(steered)
        with net.cut(cut):
            time.sleep(CUT_S)
        back = time.time()
        viewer.until(lambda: viewer.pictures("blue", back) > 5)
        assert viewer.pictures("red", back) == 0
        steered.wait_for_state("streaming")
        assert session_number(steered) == session


@pytest.mark.sdk
def test_a_viewer_that_never_comes_back_does_not_keep_the_session(
    net: Networks, steered: Served
) -> None:
    start = urllib.request.Request(f"{steered.url}/start_session", b"{}", method="POST")
    with far_away(net, steered.url), net.cut(Cut.SILENT):
        session = session_number(steered)
        time.sleep(2.0)  # its silence is what is tested
        status = inside(net.router, lambda: urllib.request.urlopen(start, timeout=30).status)
        assert status == 200
        assert session_number(steered) == session + 1
