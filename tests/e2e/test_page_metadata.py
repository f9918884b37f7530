"""The metadata a model gives beside pictures and sound, under the statistics of the page."""

import json

import pytest
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.serving import serving

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

LINE = "document.getElementById('stats-metadata')"
SHOWN = f"({LINE}.checkVisibility() && {LINE}.innerText)"
READ_STATS = """async () => {
  const reader = (await fetch("events")).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!/runtime_stats.*main_video/.test(text)) text += (await reader.read()).value;
  globalThis.told = text;
}"""
RANKS = ("--world-size", "2", "--no-init-process-group")
TOKEN = "a-token-of-sixteen-characters"


async def number_shown(tab: Tab, above: int) -> int:
    """Wait until the line tells a picture's number above *above*; return it."""
    number = f"Number(/main_video {{\"number\": (\\d+)}}/.exec({SHOWN} || '')?.[1] ?? -1)"
    return int(await tab.wait_for(f"{number} > {above} && {number}", 30))


async def test_the_newest_metadata_is_shown_while_there_is_some() -> None:
    model = "tests.models.changes_its_size:ChangesItsSize"
    with serving(model, REACTOR_TOKEN=TOKEN) as served:
        async with Chromium() as browser:
            tab = await browser.open()
            await tab.emulate(1280, 800)
            await tab.go(f"{served.url}/?token={TOKEN}")
            first = await number_shown(tab, -1)
            await number_shown(tab, first)
            await tab.evaluate("reactor.stop()")
            await tab.wait_for(f"!{LINE}.checkVisibility()", 20)
            assert tab.problems == []
        assert served.get("/events?since=0")[0] == 401
        assert '"number"' not in served.log()


@pytest.mark.parametrize("flags", [(), RANKS], ids=["in_process", "two_ranks"])
async def test_metadata_of_sound_is_shown_and_recorded(flags: tuple[str, ...]) -> None:
    model = "tests.models.says_beside_sound:SaysBesideSound"
    with serving(model, "--record", *flags) as served:
        async with Chromium() as browser:
            tab = await browser.open()
            await tab.emulate(1280, 800)
            await tab.go(f"{served.url}/")
            for line in ('main_video {"picture": ', 'tone {"sound": '):
                await tab.wait_for(f"({SHOWN} || '').includes({json.dumps(line)})", 30)
            await tab.click(".save-last")
            saved = "document.querySelector('.clip a[download$=json]')?.href"
            address = await tab.wait_for(saved, 30)
            assert tab.problems == []
        entries = json.loads(served.get(address.removeprefix(served.url))[1])["entries"]
    numbers = {
        track: [entry["value"][kind] for entry in entries if entry["track"] == track]
        for track, kind in (("main_video", "picture"), ("tone", "sound"))
    }
    for counted in numbers.values():
        assert len(counted) > 10
        assert counted == sorted(set(counted))


async def test_a_model_without_metadata_shows_no_line() -> None:
    with serving("tests.models.painted:Painted") as served:
        async with Chromium() as browser:
            tab = await browser.open()
            await tab.emulate(1280, 800)
            await tab.go(served.url + "/")
            await tab.evaluate(f"void ({READ_STATS})()")
            text = await tab.wait_for("globalThis.told", 30)
            assert "metadata" not in text
            assert not await tab.evaluate(f"{LINE}.checkVisibility()")
