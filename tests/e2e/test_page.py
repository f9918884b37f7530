"""The page in a real browser, before a real server: what a person sees and does."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from tests.e2e.built_in_page import PHASE, PICTURE_BEGAN, PLAYED
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.serving import Served, serving

MODEL = "tests.models.painted:Painted"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

NOTICE = "document.getElementById('notice').innerText"
FEED = "document.getElementById('feed').innerText"
PIXEL = """(() => {
  const video = document.querySelector(".tile.is-main video");
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 18 });
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 32, 18);
  return [...context.getImageData(X, Y, 1, 1).data].slice(0, 3);
})()"""


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(MODEL) as served:
        yield served


@pytest.fixture
def url(server: Served) -> Iterator[str]:
    """A server without a session; the one that a test leaves behind is ended."""
    server.wait_for_state("ready")
    yield server.url + "/"
    server.end_session()


async def watch(browser: Chromium, url: str) -> Tab:
    """Open the page and wait for its picture."""
    tab = await browser.open()
    await tab.emulate(1280, 800)
    await tab.go(url)
    await tab.wait_for(PICTURE_BEGAN)
    return tab


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Chromium, url: str) -> AsyncIterator[Tab]:
    opened = await watch(browser, url)
    yield opened
    problems = opened.problems
    await opened.close()
    assert problems == []


async def pixel(tab: Tab, x: int, y: int) -> list[int]:
    """Return the colour of one of 32 by 18 places of the picture."""
    found: list[int] = await tab.evaluate(PIXEL.replace("X", str(x)).replace("Y", str(y)))
    return found


async def see(tab: Tab, x: int, y: int, red: range, green: range, blue: range) -> None:
    """Wait until the picture has a colour in these ranges at a place."""
    wanted = [[each.start, each.stop] for each in (red, green, blue)]
    place = PIXEL.replace("X", str(x)).replace("Y", str(y))
    await tab.wait_for(f"{place}.every((v, i) => {wanted}[i][0] <= v && v < {wanted}[i][1])", 8)


async def press_button(tab: Tab, command: str) -> None:
    await tab.click(f"[data-command={command}]")


# --- the picture and the sound ---


async def test_the_picture_plays(tab: Tab) -> None:
    before = await tab.evaluate(PLAYED)
    await tab.wait_for(f"{PLAYED} >= {before + 48}")
    await see(tab, 10, 10, range(20, 60), range(20, 60), range(100, 140))
    assert await tab.evaluate("document.title") == "Painted"
    assert await tab.evaluate("document.querySelector('#chip').innerText") == "Live"


async def test_the_first_picture_is_there_within_three_seconds(browser: Chromium, url: str) -> None:
    tab = await browser.open()
    await tab.go(url)
    await tab.wait_for(PICTURE_BEGAN, 3)
    await tab.close()


async def test_sound_comes_when_it_is_asked_for_and_goes_again(tab: Tab) -> None:
    await tab.evaluate(
        "globalThis.heard = async () => { for (const e of (await reactor.peer.stats()).values())"
        " if (e.type === 'inbound-rtp' && e.kind === 'audio') return e.totalAudioEnergy ?? 0;"
        " return 0; }"
    )
    assert await tab.evaluate("heard()") == 0
    await tab.click("#sound-button")
    await tab.wait_for("heard().then((energy) => energy > 0.001)", 8)
    label = "document.getElementById('sound-button').getAttribute('aria-label')"
    assert await tab.evaluate(label) == "Mute"
    await tab.click("#sound-button")
    assert await tab.evaluate(label) == "Turn on sound"


# --- steering ---


async def test_a_slider_changes_the_picture(tab: Tab) -> None:
    await tab.drag_range("[data-field=red] input[type=range]", 0.95)
    await see(tab, 10, 10, range(210, 256), range(20, 70), range(90, 150))
    assert "Red: 2" in await tab.evaluate(FEED)


async def test_a_switch_and_a_row_of_choices_change_the_picture(tab: Tab) -> None:
    await tab.click("[data-field=dark] input")
    await see(tab, 10, 10, range(20, 60), range(20, 60), range(0, 30))
    await tab.click("[data-field=shape] label:nth-child(2)")
    await tab.wait_for(f"{FEED}.includes('Shape: stripes')")


async def test_an_exact_value_is_typed_and_reset_takes_it_back(tab: Tab) -> None:
    await tab.click("[data-field=red] .value")
    await tab.evaluate("document.querySelector('[data-field=red] .value').select()")
    await tab.type("200")
    await tab.press("Enter")
    await see(tab, 10, 10, range(180, 220), range(20, 60), range(100, 140))
    await tab.click("[data-field=red] .reset")
    await see(tab, 10, 10, range(20, 60), range(20, 60), range(100, 140))


async def test_enter_sends_a_text(tab: Tab) -> None:
    await tab.click("[data-field=title] textarea")
    await tab.evaluate("document.querySelector('[data-field=title] textarea').select()")
    await tab.type("Sunrise")
    await tab.press("Enter")
    await tab.wait_for(f"{FEED}.includes('Title: Sunrise')")
    await tab.wait_for("document.querySelector('.entry .outcome').innerText.includes('✓')")


async def test_a_command_is_answered_in_the_feed(tab: Tab) -> None:
    await tab.click("[data-command=ask] textarea")
    await tab.type("who is there?")
    await tab.press("Enter")
    await tab.wait_for(f"{FEED}.includes('WHO IS THERE?')")


async def test_refusals_are_told_in_plain_words(tab: Tab) -> None:
    await press_button(tab, "refuse")
    await tab.wait_for(f"{FEED}.includes('Come back later')")
    await press_button(tab, "break_handler")
    await tab.wait_for(f"{FEED}.includes('code failed on it')")
    assert "secret" not in await tab.evaluate("document.body.innerText")
    await tab.evaluate("document.querySelector('[data-command=ask] button').click()")
    await tab.wait_for(
        "document.querySelector('[data-command=ask] .problem').innerText === 'Type something'"
    )


async def test_a_list_is_checked_while_it_is_written(tab: Tab) -> None:
    area = "document.querySelector('[data-field=points] textarea')"
    problem = "document.querySelector('[data-field=points] .problem').innerText"
    await tab.click("[data-field=points] textarea")
    await tab.evaluate(f"{area}.select()")
    await tab.type('[[1, "two"]]')
    await tab.click("[data-field=points] .send")
    await tab.wait_for(f"{problem} === '[0][1] must be a number'")
    await tab.evaluate(f"{area}.select()")
    await tab.type("[[1, 2]]")
    await tab.click("[data-field=points] .send")
    await tab.wait_for(f"{FEED}.includes('Points: [[1,2]]')")
    assert await tab.evaluate(problem) == ""


async def test_a_dropped_file_reaches_the_model(tab: Tab) -> None:
    await tab.evaluate(
        "(() => { const transfer = new DataTransfer();"
        " const green = new Uint8Array([20, 250, 20]);"
        " transfer.items.add(new File([green], 'stencil.raw', { type: 'x/colour' }));"
        " document.querySelector('[data-field=stencil] .drop').dispatchEvent("
        " new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true })) })()"
    )
    await see(tab, 1, 16, range(0, 80), range(180, 256), range(0, 80))
    await tab.wait_for(f"{FEED}.includes('Stencil: stencil.raw (3 bytes)')")


async def test_keys_call_commands_and_the_list_of_keys_says_which(tab: Tab) -> None:
    await see(tab, 1, 0, range(200, 256), range(200, 256), range(200, 256))
    for _ in range(3):
        await tab.press("ArrowRight")
    await see(tab, 7, 0, range(200, 256), range(200, 256), range(200, 256))
    await tab.press("ArrowLeft")
    await see(tab, 5, 0, range(200, 256), range(200, 256), range(200, 256))
    await tab.press("?")
    listed = await tab.wait_for("document.querySelector('dialog[open]')?.innerText")
    assert "Move left" in listed
    assert "Dark: on and off" in listed


async def test_keys_are_only_letters_while_somebody_types(tab: Tab) -> None:
    await tab.click("[data-command=ask] textarea")
    for letter in "dark":
        await tab.press(letter)
    assert await tab.evaluate("document.activeElement.value") == "dark"
    assert await tab.evaluate("document.querySelector('[data-field=dark] input').checked") is False


# --- the camera ---


async def test_the_camera_goes_in_and_its_negative_comes_out(tab: Tab) -> None:
    await tab.click("[data-input=webcam] .publish")
    await tab.wait_for("!!document.querySelector('.self-views video')")
    # the browser's own test camera is green: its negative is magenta
    await see(tab, 28, 12, range(170, 256), range(60, 190), range(170, 256))
    await tab.click("[data-input=webcam] .publish")
    await tab.wait_for("!document.querySelector('.self-views video')")


# --- several viewers, and endings ---


async def test_two_tabs_watch_and_steer_together(browser: Chromium, url: str, tab: Tab) -> None:
    other = await watch(browser, url)
    await tab.drag_range("[data-field=red] input[type=range]", 0.9)
    for each in (tab, other):
        await see(each, 10, 10, range(200, 256), range(20, 70), range(90, 150))
    value = "document.querySelector('[data-field=red] .value').value"
    mine = await tab.evaluate(value)
    await other.show()
    await other.wait_for(f"{value} === {json.dumps(mine)}", 5)
    await press_button(other, "announce")
    for each in (tab, other):
        await each.wait_for(f"{FEED}.includes('to everybody')")
    await other.close()
    before = await tab.evaluate(PLAYED)
    await tab.wait_for(f"{PLAYED} >= {before + 24}")


async def test_a_late_tab_shows_the_state_as_it_is(browser: Chromium, url: str, tab: Tab) -> None:
    await tab.click("[data-field=dark] input")
    await see(tab, 10, 10, range(20, 60), range(20, 60), range(0, 30))
    late = await watch(browser, url)
    await late.wait_for("document.querySelector('[data-field=dark] input').checked", 5)
    await late.close()


async def test_an_exception_of_the_author_is_shown_and_the_next_session_works(tab: Tab) -> None:
    await press_button(tab, "break_step")
    await tab.wait_for(f"{PHASE} === 'ended'", 8)
    told = await tab.evaluate(NOTICE)
    assert "The model failed" in told
    assert "ValueError" in told
    assert "on purpose" not in told
    await tab.click(".notice button")
    await tab.wait_for(PICTURE_BEGAN)
    assert await tab.evaluate(PHASE) == "live"


async def test_stop_asks_once_and_ends_the_session_for_everybody(
    browser: Chromium, url: str, server: Served, tab: Tab
) -> None:
    other = await watch(browser, url)
    await tab.click("#stop-button")
    assert await tab.evaluate("document.getElementById('stop-button').innerText") == (
        "Stop for everyone?"
    )
    assert server.state() == "streaming"
    await tab.click("#stop-button")
    for each in (tab, other):
        await each.wait_for(f"{PHASE} === 'ended'", 5)
        assert "The session was stopped" in await each.evaluate(NOTICE)
        assert "has ended" not in await each.evaluate("document.body.innerText")
    server.wait_for_state("ready")
    await other.close()


async def test_closing_the_page_leaves_the_session(
    browser: Chromium, url: str, server: Served
) -> None:
    tab = await watch(browser, url)
    await tab.close()
    server.wait_for_state("orphaned", timeout_s=5)
    again = await watch(browser, url)
    assert server.state() == "streaming"
    await again.close()


async def test_a_lost_connection_comes_back_by_itself(tab: Tab, server: Served) -> None:
    await tab.drag_range("[data-field=red] input[type=range]", 0.95)
    await see(tab, 10, 10, range(210, 256), range(20, 70), range(90, 150))
    await tab.evaluate("reactor.peer.close()")
    await tab.wait_for(f"{PHASE} !== 'live'", 3)
    await tab.wait_for(f"{PHASE} === 'live' && {PICTURE_BEGAN}", 10)
    await see(tab, 10, 10, range(210, 256), range(20, 70), range(90, 150))
    assert server.state() == "streaming"


async def test_a_server_that_goes_is_told_and_waited_for(browser: Chromium) -> None:
    with serving(MODEL) as served:
        tab = await watch(browser, served.url + "/")
        served.stop()
        await tab.wait_for(f"{PHASE} === 'unreachable'", 10)
        assert "cannot be reached" in await tab.evaluate(NOTICE)
        port = served.url.rsplit(":", 1)[1]
    with serving(MODEL, "--port", port, ready=False):
        await tab.wait_for(f"{PHASE} === 'live' && {PICTURE_BEGAN}", 25)
    await tab.close()


async def test_a_token_in_the_address_opens_everything(browser: Chromium) -> None:
    with serving(MODEL, "--token", "open-sesame-123") as served:
        tab = await watch(browser, f"{served.url}/?token=open-sesame-123")
        await tab.drag_range("[data-field=red] input[type=range]", 0.95)
        await see(tab, 10, 10, range(210, 256), range(20, 70), range(90, 150))
        assert tab.problems == []
        await tab.close()


async def test_without_the_token_the_page_asks_for_it(browser: Chromium) -> None:
    field = "document.querySelector('.notice input[type=password]')"
    with serving(MODEL, "--token", "open-sesame-123") as served:
        tab = await browser.open(f"{served.url}/")
        await tab.wait_for(f"!!{field}")
        assert "This server wants a token" in await tab.evaluate(NOTICE)
        for attempt in ("guessed", "open-sesame-123"):
            await tab.click(".notice input[type=password]")
            await tab.type(attempt)
            await tab.press("Enter")
            if attempt == "guessed":
                await tab.wait_for(f"{NOTICE}.includes('That token is not right')")
        await tab.wait_for(PICTURE_BEGAN)
        assert "sesame" not in await tab.evaluate("location.href")
        await tab.go(f"{served.url}/?token=guessed")
        await tab.wait_for(f"!!{field} && {NOTICE}.includes('That token is not right')")
        await tab.close()


# --- how it looks ---


async def test_it_is_dark_for_those_who_like_it_dark(tab: Tab) -> None:
    back = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert min(await tab.evaluate(back)) > 200
    await tab.emulate(1280, 800, dark=True)
    assert max(await tab.evaluate(back)) < 40


async def test_a_phone_gets_one_column_and_room_for_fingers(tab: Tab) -> None:
    await tab.emulate(390, 844, phone=True)
    assert await tab.evaluate("document.documentElement.scrollWidth") <= 390
    small = await tab.evaluate(
        "[...document.querySelectorAll('button, select, textarea, input[type=range], label.drop')]"
        ".filter((e) => e.offsetParent && !e.matches('.caption, .reset'))"
        ".map((e) => [e.outerHTML.slice(0, 80), Math.round(e.getBoundingClientRect().height)])"
        ".filter(([, height]) => height < 40)"
    )
    assert small == []
    await tab.click("[role=tab][data-tab=activity]")
    assert await tab.evaluate("!!document.getElementById('feed').offsetParent")
    assert not await tab.evaluate("!!document.getElementById('steer').offsetParent")


async def test_every_control_has_a_name_and_is_reached_by_keyboard(tab: Tab) -> None:
    tree = await tab.call("Accessibility.getFullAXTree")
    roles = {"button", "slider", "textbox", "switch", "checkbox", "radio", "combobox", "tab"}
    nameless = [
        node["role"]["value"]
        for node in tree["nodes"]
        if not node.get("ignored")
        and node["role"]["value"] in roles
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    assert await tab.evaluate("document.querySelectorAll('[tabindex=\"-1\"]').length") == 0


async def test_statistics_show_what_arrives(tab: Tab) -> None:
    value = "Number(document.querySelector('[data-stat=KEY] .stat-value').innerText)"
    await tab.wait_for(f"{value.replace('KEY', 'fps')} >= 20", 8)
    await tab.wait_for(f"{value.replace('KEY', 'mbps')} > 0", 8)
    await tab.wait_for(f"{value.replace('KEY', 'turnMs')} > 0", 8)
    assert "320" in await tab.evaluate("document.getElementById('facts').innerText")


async def test_statistics_are_there_from_the_start_and_end_with_the_session(tab: Tab) -> None:
    shown = "[...document.querySelectorAll('.stat')].filter((e) => !e.hidden)"
    keys = await tab.evaluate(f"{shown}.map((e) => e.dataset.stat)")
    assert keys == ["fps", "mbps", "roundTripMs", "jitterMs", "dropped", "queue", "turnMs"]
    fps = "document.querySelector('[data-stat=fps] .stat-value').innerText"
    await tab.wait_for(f"Number({fps}) > 0", 8)
    await tab.evaluate("reactor.stop()")
    await tab.wait_for(f"{PHASE} === 'ended'", 5)
    assert await tab.evaluate(fps) == "\u2013"
    assert await tab.evaluate("document.getElementById('facts').innerText") == ""


async def test_a_value_that_falls_back_says_why(tab: Tab) -> None:
    box, problem = "[data-field=red] .value", "[data-field=red] .problem"
    for typed, told in (("999", "Not above 255"), ("abc", "Type a number"), ("1.5", "whole")):
        await tab.click(box)
        await tab.evaluate(f"document.querySelector('{box}').select()")
        await tab.type(typed)
        await tab.press("Enter")
        await tab.wait_for(f"document.querySelector('{problem}').innerText.includes('{told}')")
        assert await tab.evaluate(f"document.querySelector('{box}').value") == "40"
    await tab.drag_range("[data-field=red] input[type=range]", 0.5)
    await tab.wait_for(f"document.querySelector('{problem}').hidden")


async def test_the_controls_have_what_activity_does_not_fill(tab: Tab) -> None:
    await tab.evaluate("document.getElementById('clear-button').click()")
    share = "document.querySelector('.activity').offsetHeight / PANEL.offsetHeight"
    share = share.replace("PANEL", "document.querySelector('.panel')")
    assert await tab.evaluate(share) < 0.2
    for _ in range(12):
        await press_button(tab, "announce")
    await tab.wait_for(f"{share} > 0.3")
    assert await tab.evaluate(share) < 0.36


async def test_what_a_model_is_and_which_arrows_move_a_slider_is_shown(browser: Chromium) -> None:
    with serving("examples/worldlet") as served:
        tab = await browser.open(f"{served.url}/")
        await tab.emulate(1280, 800)
        await tab.wait_for("!document.getElementById('about').hidden")
        description = "A generated landscape you steer while it streams."
        assert await tab.evaluate("document.getElementById('about').innerText") == description
        await tab.wait_for("document.querySelectorAll('.field-slider .label kbd').length >= 2")
        await tab.close()


async def test_a_model_that_loads_is_waited_for(browser: Chromium) -> None:
    with serving(MODEL, ready=False) as served:
        tab = await browser.open()
        deadline = asyncio.get_running_loop().time() + 20
        while (await tab.evaluate("document.title")) != "Reactor":
            assert asyncio.get_running_loop().time() < deadline
            await tab.go(served.url + "/")
            await asyncio.sleep(0.1)  # the port opens before the model is there
        await tab.wait_for(PICTURE_BEGAN, 20)
        await tab.close()
