"""A model on two ranks before a real browser: it plays, is steered, and a dead rank is told."""

import asyncio
import os
import signal

import pytest
from tests.e2e.built_in_page import LIVE, PHASE, PICTURE_BEGAN, PLAYED
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.process_figures import no_process_is_left, ranks_of
from tests.e2e.serving import ROOT, Served, serving

pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.browser,
    pytest.mark.timeout(240),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

EXAMPLE = ROOT / "examples" / "sharded_diffusion"
FLAGS = ("--world-size", "2")
LONG_S = 60.0  # to load torch twice, beside a browser
NOTICE = "document.getElementById('notice').innerText"
SLOWEST = "document.querySelector('[data-stat=slowestMs] .stat-value')"
FEED = "document.getElementById('feed').innerText"
LOOK = """globalThis.look = () => {
  const video = document.querySelector(".tile.is-main video");
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 18 });
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 32, 18);
  return [...context.getImageData(0, 0, 32, 18).data];
};
globalThis.changed = () => {
  const now = look();
  return now.reduce((sum, value, i) => sum + Math.abs(value - before[i]), 0) / now.length;
};
globalThis.before = look();"""


async def watch(browser: Chromium, served: Served) -> Tab:
    """Open the page and wait for its picture."""
    tab = await browser.open()
    await tab.emulate(1280, 800)
    await tab.go(served.url + "/")
    await tab.wait_for(PICTURE_BEGAN, LONG_S)
    return tab


async def plays(tab: Tab, frames: int) -> None:
    before = await tab.evaluate(PLAYED)
    await tab.wait_for(f"{PLAYED} >= {before + frames}", LONG_S)


async def stand_still(tab: Tab) -> None:
    """Stop the motion, and wait until no picture differs from the one before."""
    await tab.drag_range("[data-field=speed] input[type=range]", 0)
    for _ in range(100):
        await tab.evaluate(f"{LOOK} 0")
        await plays(tab, 6)
        if await tab.evaluate("changed() < 1"):
            return
    raise AssertionError("the picture goes on moving")


async def test_it_plays_a_prompt_changes_it_and_a_dead_rank_ends_it() -> None:
    with serving(EXAMPLE, *FLAGS) as served:
        async with Chromium() as browser:
            ranks = ranks_of(served.process.pid)
            assert len(ranks) == 2
            tab = await watch(browser, served)
            await plays(tab, 24)
            await tab.wait_for(f"{SLOWEST}.innerText.match(/[1-9]/)", LONG_S)
            parts = (await tab.evaluate(f"{SLOWEST}.closest('[data-stat]').title")).splitlines()
            named = sorted(part.partition(":")[0] for part in parts)
            assert named == ["broadcast", "collect", "copy", "rank 0", "rank 1", "room"]
            await stand_still(tab)
            await tab.click("[data-field=prompt] textarea")
            await tab.evaluate("document.querySelector('[data-field=prompt] textarea').select()")
            await tab.type("a coral reef")
            await tab.press("Enter")
            await tab.wait_for("changed() > 15", LONG_S)
            assert "Prompt: a coral reef" in await tab.evaluate(FEED)
            os.kill(ranks[1], signal.SIGKILL)
            await tab.wait_for(f"{PHASE} === 'ended'", 10)
            told = await tab.evaluate(NOTICE)
            assert "The model failed" in told
            assert "WorkerCrashed" in told
            assert await asyncio.to_thread(served.process.wait, 20) == 1
            assert "rank 1 died during" in served.log()
            assert "killed by SIGKILL" in served.log()
            assert tab.problems == []
    assert no_process_is_left(ranks)


async def test_a_dead_rank_is_replaced_where_that_is_wanted_and_the_page_starts_again() -> None:
    with serving(EXAMPLE, *FLAGS, "--on-failure", "restart") as served:
        async with Chromium() as browser:
            before = ranks_of(served.process.pid)
            tab = await watch(browser, served)
            os.kill(before[0], signal.SIGKILL)
            await tab.wait_for(f"{PHASE} === 'ended'", 10)
            assert "The model failed" in await tab.evaluate(NOTICE)
            await tab.click(".notice button")
            await tab.wait_for(f"{LIVE} && {PICTURE_BEGAN}", LONG_S)
            await plays(tab, 12)
            after = ranks_of(served.process.pid)
            assert len(after) == 2
            assert not set(before) & set(after)
        assert await asyncio.to_thread(served.stop) == 0
    assert no_process_is_left([*before, *after])
