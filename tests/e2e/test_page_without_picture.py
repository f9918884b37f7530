"""The page before a model that shows nothing: it says so, and its cameras and words work."""

import pytest
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.serving import serving

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

NOTICE = "document.getElementById('notice').innerText"
FEED = "document.getElementById('feed').innerText"


async def test_a_model_that_only_looks_says_so_and_hears_of_its_cameras() -> None:
    model = "tests.models.compares_three_cameras:ComparesThreeCameras"
    with serving(model) as served:
        async with Chromium() as browser:
            tab = await browser.open(served.url + "/")
            await tab.wait_for(f"{NOTICE}.includes('This model shows no picture')")
            assert await tab.evaluate("document.getElementById('expand-button').hidden")
            for name in ("left", "middle", "right"):
                await tab.click(f"[data-input={name}] .publish")
            await tab.wait_for("document.querySelectorAll('.self-views video').length === 3")
            await tab.click("[role=tab][data-tab=activity]")
            await tab.wait_for(f"/seen/i.test({FEED})")
            assert "error" not in served.log()
