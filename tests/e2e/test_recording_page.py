"""Recordings in a real browser: the buttons of the page, and films that play."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.e2e.built_in_page import PICTURE_BEGAN, PLAYED
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.serving import Served, serving
from tests.models.flashes_and_beeps import FPS
from tests.unit.recording.material import levels, needs_ffprobe, probe, typical_offset

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

LINK = "document.querySelector('.clip:first-child a[download$=mp4]')?.href"
PLAY = """(async () => {
  const film = document.createElement("video");
  document.body.append(film);
  film.src = ADDRESS;
  const happens = (name) => new Promise((resolve, reject) => {
    film.addEventListener(name, resolve, { once: true });
    film.addEventListener("error", () => reject(new Error(film.error.message)), { once: true });
  });
  await happens("loadedmetadata");
  const { duration, videoWidth, videoHeight } = film;
  const over = happens("ended");
  film.playbackRate = 2;
  await film.play();
  await over;
  const { totalVideoFrames } = film.getVideoPlaybackQuality();
  const heard = film.webkitAudioDecodedByteCount;
  film.remove();
  return { duration, videoWidth, videoHeight, totalVideoFrames, heard };
})()"""


STREAM = """(async () => {
  const playlist = await (await fetch(ADDRESS)).text();
  const lines = playlist.split("\\n");
  const head = /URI="(.+)"/.exec(playlist)[1];
  const source = new MediaSource();
  const film = document.createElement("video");
  film.src = URL.createObjectURL(source);
  await new Promise((resolve) => source.addEventListener("sourceopen", resolve, { once: true }));
  const buffer = source.addSourceBuffer('video/mp4; codecs="avc1.640028,mp4a.40.2"');
  for (const url of [head, ...lines.filter((line) => line && !line.startsWith("#"))]) {
    buffer.appendBuffer(await (await fetch(url)).arrayBuffer());
    await new Promise((resolve) => buffer.addEventListener("updateend", resolve, { once: true }));
  }
  source.endOfStream();
  const { buffered } = film;
  const [start, end] = [buffered.start(0), buffered.end(buffered.length - 1)];
  film.currentTime = (start + end) / 2;
  await new Promise((resolve) => film.addEventListener("seeked", resolve, { once: true }));
  return { start, end, stretches: buffered.length, duration: film.duration };
})()"""


SEEK = """(async () => {
  const film = document.createElement("video");
  film.preload = "metadata";
  film.src = ADDRESS;
  await new Promise((resolve) => film.addEventListener("loadedmetadata", resolve, { once: true }));
  const seekable = film.seekable.end(film.seekable.length - 1);
  film.currentTime = film.duration - 0.2;
  await new Promise((resolve) => film.addEventListener("seeked", resolve, { once: true }));
  const part = await fetch(ADDRESS, { headers: { Range: "bytes=10-19" } });
  return { seekable, at: film.currentTime, status: part.status, size: (await part.blob()).size };
})()"""


@pytest_asyncio.fixture
async def browser() -> AsyncIterator[Chromium]:
    async with Chromium() as chromium:
        yield chromium


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    model = getattr(request, "param", "flashes_and_beeps:FlashesAndBeeps")
    flags = ("--record", "--recordings-path", str(tmp_path / "disk"))
    with serving(f"tests.models.{model}", *flags) as served:
        yield served


async def watch(browser: Chromium, served: Served) -> Tab:
    tab = await browser.open()
    await tab.emulate(1280, 900)
    await tab.go(served.url + "/")
    await tab.wait_for(PICTURE_BEGAN)
    return tab


async def saved(tab: Tab, path: Path) -> Path:
    """Wait for the newest clip's link and fetch what it leads to."""
    address = await tab.wait_for(LINK, 20)

    def fetch() -> None:
        with urllib.request.urlopen(address, timeout=20) as answer:
            path.write_bytes(answer.read())

    await asyncio.to_thread(fetch)
    return path


async def play(tab: Tab) -> dict[str, Any]:
    """Play the newest clip in the browser, at twice its speed; returns what it saw of it."""
    address = await tab.wait_for(LINK, 20)
    seen: dict[str, Any] = await tab.evaluate(PLAY.replace("ADDRESS", json.dumps(address)))
    return seen


@needs_ffprobe
async def test_the_last_seconds_are_saved_and_play(
    browser: Chromium, served: Served, tmp_path: Path
) -> None:
    tab = await watch(browser, served)
    await tab.wait_for(f"{PLAYED} >= {4 * FPS}", 30)
    await tab.evaluate("document.querySelector('.clip-line input').value = 3")
    await tab.click(".save-last")
    await tab.wait_for("document.querySelector('.clip-title')?.innerText == 'Last 3 s'")
    path = await saved(tab, tmp_path / "clip.mp4")
    said = probe(path)
    assert 2.9 <= said.duration_s < 3 + 2 * 2 + 0.5  # whole segments of two seconds
    assert typical_offset(path) <= 1 / FPS
    seen = await play(tab)
    assert seen["duration"] == pytest.approx(said.duration_s, abs=0.05)
    assert (seen["videoWidth"], seen["videoHeight"]) == (160, 120)
    assert seen["totalVideoFrames"] >= len(levels(path)) - 2
    assert seen["heard"] > 1000
    link = await tab.evaluate(LINK)
    sought = await tab.evaluate(SEEK.replace("ADDRESS", json.dumps(link)))
    assert (sought["status"], sought["size"]) == (206, 10)
    assert sought["seekable"] == pytest.approx(said.duration_s, abs=0.05)
    assert sought["at"] == pytest.approx(said.duration_s - 0.2, abs=0.05)
    address = link.replace("/clips/file?", "/clips?")
    seen = await tab.evaluate(STREAM.replace("ADDRESS", json.dumps(address)))
    assert (seen["stretches"], seen["start"]) == (1, pytest.approx(0, abs=1 / FPS))
    assert seen["end"] == pytest.approx(said.duration_s, abs=0.05)
    assert tab.problems == []


async def test_what_is_recorded_lasts_from_press_to_press(
    browser: Chromium, served: Served, tmp_path: Path
) -> None:
    tab = await watch(browser, served)
    await tab.click(".record")
    await tab.wait_for("document.querySelector('.record').innerText.includes('0:02')", 20)
    assert await tab.evaluate("document.querySelector('.record').ariaPressed") == "true"
    await tab.click(".record")
    path = await saved(tab, tmp_path / "film.mp4")
    assert 2 <= levels(path)[-1][0] < 20
    assert (await tab.evaluate("document.querySelector('.record').innerText")) == "Record"
    title = await tab.evaluate("document.querySelector('.clip-title').innerText")
    assert title.startswith("Recording of 0:0")


async def test_what_is_being_recorded_is_kept_when_the_session_ends(
    browser: Chromium, served: Served, tmp_path: Path
) -> None:
    tab = await watch(browser, served)
    await tab.click(".record")
    await tab.wait_for("document.querySelector('.record').innerText.includes('0:01')", 20)
    await tab.click("#stop-button")
    await tab.click("#stop-button")
    path = await saved(tab, tmp_path / "film.mp4")
    assert levels(path)


@pytest.mark.parametrize("served", ["refuses_and_idles:RefusesAndIdles"], indirect=True)
async def test_before_there_is_a_picture_record_begins_and_save_says_so(
    browser: Chromium, served: Served, tmp_path: Path
) -> None:
    start = json.dumps({"starting_input": {"state": {"mode": "idle"}}}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{served.url}/start_session", start, headers)
    await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=20).close())
    tab = await browser.open(served.url + "/")
    await tab.wait_for("document.body.dataset.phase == 'live'")
    await tab.click(".save-last")
    told = "document.querySelector('#recording .problem:not([hidden])')?.innerText"
    assert "no picture so far" in await tab.wait_for(told)
    await tab.click(".record")
    await tab.wait_for("document.querySelector('.record').ariaPressed == 'true'")
    await tab.click(".record")
    assert "Nothing was recorded" in await tab.wait_for(told)
    await tab.click(".record")
    await tab.wait_for("document.querySelector('.record').ariaPressed == 'true'")
    await tab.evaluate("reactor.command('set_mode', {mode: 'show'})")
    await tab.wait_for("document.querySelector('.record').innerText.includes('0:02')", 20)
    assert await tab.evaluate(told) is None
    await tab.click(".record")
    path = await saved(tab, tmp_path / "film.mp4")
    assert levels(path)[-1][0] >= 1.5
    await tab.click(".save-last")
    await tab.wait_for("document.querySelectorAll('.clip a[download$=mp4]').length == 2", 20)
    assert tab.problems == []


@pytest.mark.parametrize("served", ["changes_its_size:ChangesItsSize"], indirect=True)
async def test_metadata_can_be_saved_beside_the_film(browser: Chromium, served: Served) -> None:
    tab = await watch(browser, served)
    await tab.click(".save-last")
    address = await tab.wait_for("document.querySelector('.clip a[download$=json]')?.href", 20)

    def fetch() -> Any:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return json.load(answer)

    entries = (await asyncio.to_thread(fetch))["entries"]
    assert len(entries) > 5
    assert set(entries[0]["value"]) == {"number"}


async def test_a_page_whose_server_records_nothing_offers_nothing(browser: Chromium) -> None:
    with serving("tests.models.flashes_and_beeps:FlashesAndBeeps") as served:
        tab = await watch(browser, served)
        assert await tab.evaluate("document.getElementById('recording').hidden")
