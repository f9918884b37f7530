"""The published JS SDK, unmodified, in a real browser and against a real server.

It connects through the older signalling path and speaks v0 JSON. Its page comes from an origin of
its own, as an application's does.
"""

import asyncio
import contextlib
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from tests.e2e.chromium import CdpError, Chromium, Tab, find_chromium
from tests.e2e.js_bundle import SOURCES, page_of
from tests.e2e.js_viewer import (
    BELOW,
    CENTRE,
    RIGHT,
    frames,
    message,
    see,
    send,
    viewer_page,
    viewing,
)
from tests.e2e.serving import Served, own_address, serving

from reactor_runtime.wire import reactor_pb2 as pb

MODEL = "tests.models.painted:Painted"
MESSAGES = "viewer.messages.map((m) => m.type)"
NOTICES = "viewer.notices.map((m) => m.type)"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(MODEL) as served:
        yield served


@pytest.fixture(scope="module")
def page(server: Served) -> Iterator[str]:
    with viewer_page(server) as address:
        yield address


def post(server: Served, path: str, **body: object) -> None:
    asked = urllib.request.Request(server.url + path, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert answer.status == 200


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Chromium, page: str, server: Served) -> AsyncIterator[Tab]:
    async with viewing(browser, page, server) as viewer:
        yield viewer
        assert viewer.problems == []
        assert await viewer.evaluate("viewer.errors") == []


def python_sdk() -> Any:
    """Return the public Python SDK; skips the test where it cannot be used."""
    if own_address() is None:
        pytest.skip("the Python SDK finds no candidates when loopback is the only address")
    return pytest.importorskip(
        "reactor_sdk", reason="the public client has no build for this Python"
    )


def viewing_by_python(url: str, session_id: str) -> Any:
    from tests.e2e.sdk_viewer import viewing

    return viewing(url, session_id)


# --- picture and sound ---


async def test_it_connects_and_its_pictures_are_the_models(tab: Tab) -> None:
    await frames(tab, 48)
    await see(tab, CENTRE, 40, 40, 120)
    assert await tab.evaluate("[viewer.video.videoWidth, viewer.video.videoHeight]") == [320, 180]
    tracks = await tab.evaluate("viewer.reactor.getCapabilities().tracks")
    assert {(t["name"], t["direction"]) for t in tracks} == {
        ("main_video", "recvonly"),
        ("tone", "recvonly"),
        ("webcam", "sendonly"),
    }
    assert await tab.evaluate("viewer.reactor.getSessionInfo().model.name") == "Painted"


async def test_the_sound_plays(tab: Tab) -> None:
    await tab.show()
    await tab.wait_for("!!viewer.tracks.tone")
    await tab.wait_for("viewer.loudness('tone').then((loudness) => loudness > 0.1)")


# --- commands ---


async def test_a_command_changes_the_picture(tab: Tab) -> None:
    for red in (220, 120):
        await send(tab, "set_red", red=red)
        await see(tab, CENTRE, red, 40, 120)


async def test_a_reply_arrives_as_a_message(tab: Tab) -> None:
    await send(tab, "ask", text="hello")
    assert await message(tab, "answer") == {"text": "HELLO"}


async def test_what_has_no_answer_and_what_is_refused_says_nothing_and_breaks_nothing(
    tab: Tab,
) -> None:
    await send(tab, "move_right")
    await send(tab, "refuse")
    await send(tab, "break_handler")
    await send(tab, "no_such_command")
    await send(tab, "set_red", red=1000)
    await send(tab, "set_red", red="much")
    await send(tab, "ask", text="last")  # calls are answered in their order
    await message(tab, "answer")
    assert await tab.evaluate(MESSAGES) == ["answer"]
    await see(tab, (0.09, 0.05), 255, 255, 255)  # the mark has moved
    await see(tab, CENTRE, 40, 40, 120)


async def test_it_asks_for_the_schema_and_for_the_older_list_of_commands(tab: Tab) -> None:
    await send(tab, "requestSchema", "runtime")
    schema = await message(tab, "modelSchema", "notices")
    assert "/events/set_red" in schema["paths"]
    await send(tab, "requestCapabilities", "runtime")
    commands = (await message(tab, "modelCapabilities", "notices"))["commands"]
    assert {"ask", "set_red", "set_shape"} <= {each["name"] for each in commands}


# --- files and cameras ---


async def test_an_uploaded_file_is_an_argument(tab: Tab) -> None:
    sent = await tab.evaluate(
        "viewer.reactor.uploadFile(new File([new Uint8Array([250, 200, 10])], 'stencil.raw'))"
        ".then(async (stencil) => { await viewer.reactor.sendCommand('set_stencil', { stencil });"
        " return [stencil.name, stencil.size]; })"
    )
    assert sent == ["stencil.raw", 3]
    await see(tab, BELOW, 250, 200, 10)


async def test_the_browsers_camera_reaches_the_model(tab: Tab) -> None:
    await frames(tab, 2)
    await tab.evaluate("viewer.publishCamera('webcam')")
    # Chromium's own test picture is green, so its negative has little of that and much of the rest.
    await tab.wait_for("(([r, g, b]) => r > g + 60 && b > g + 60)(viewer.color(0.9, 0.6))")


async def test_a_track_given_up_is_free_for_the_next(tab: Tab, server: Served) -> None:
    sdk = python_sdk()
    await frames(tab, 2)
    await tab.evaluate("viewer.publishColor('webcam', 'rgb(250, 250, 20)')")
    await see(tab, RIGHT, 5, 5, 235)
    session_id = await tab.evaluate("viewer.reactor.getSessionId()")
    async with viewing_by_python(server.url, session_id) as other:
        webcam = other.reactor.track("webcam")
        with pytest.raises(sdk.ReactorError) as refusal:
            await webcam.publish()
        assert refusal.value.code == "publish_refused"
        await tab.evaluate("viewer.reactor.unpublishTrack('webcam')")
        await publish_when_free(webcam, sdk.ReactorError)


async def publish_when_free(track: Any, refusal: type[Exception]) -> None:
    """Publish *track*; nobody tells when it has become free."""
    async with asyncio.timeout(15):
        while True:
            with contextlib.suppress(refusal):
                await track.publish()
                return
            await asyncio.sleep(0.1)


# --- with others ---


async def test_it_shares_a_session_with_a_page_and_a_v1_client(
    tab: Tab, browser: Chromium, server: Served
) -> None:
    python_sdk()
    await frames(tab, 5)
    session_id = await tab.evaluate("viewer.reactor.getSessionId()")
    feed = "document.getElementById('feed').innerText"
    watcher = await browser.open(server.url + "/")
    await watcher.wait_for("document.body.dataset.phase === 'live'")
    async with viewing_by_python(server.url, session_id) as other:
        await other.frames(5)
        await send(tab, "announce")  # to everybody, whatever they speak
        assert await message(tab, "announced") == {"text": "to everybody"}
        assert await other.message("announced") == {"text": "to everybody"}
        await watcher.wait_for(f"{feed}.includes('to everybody')")
        reply = await other.reactor.send_command("ask", {"text": "mine alone"})
        assert reply["data"] == {"text": "MINE ALONE"}
        await send(tab, "ask", text="and mine")
        assert await message(tab, "answer") == {"text": "AND MINE"}
        assert await tab.evaluate(MESSAGES) == ["announced", "answer"]
        await other.reactor.send_command("set_red", {"red": 200})
        await see(tab, CENTRE, 200, 40, 120)
        await frames(tab, 5)
    assert watcher.problems == []
    await watcher.close()
    await frames(tab, 5)


async def test_a_second_one_is_told_that_the_session_is_taken(
    tab: Tab, browser: Chromium, page: str
) -> None:
    await frames(tab, 2)
    second = await browser.open(page)
    await second.wait_for("globalThis.viewer")
    with pytest.raises(CdpError, match="409"):
        await second.evaluate("viewer.reactor.connect()")
    await second.close()
    await frames(tab, 5)


# --- comings and goings ---


async def test_it_comes_back_to_the_same_session(tab: Tab, server: Served) -> None:
    await send(tab, "set_red", red=220)
    await see(tab, CENTRE, 220, 40, 120)
    await tab.evaluate("viewer.reactor.disconnect(true)")
    server.wait_for_state("orphaned")
    await tab.evaluate("viewer.reactor.reconnect()")
    await tab.wait_for("viewer.status === 'ready'")
    server.wait_for_state("streaming")
    await frames(tab, 10)
    await see(tab, CENTRE, 220, 40, 120)
    await send(tab, "ask", text="still here")
    assert await message(tab, "answer") == {"text": "STILL HERE"}


async def test_its_disconnect_ends_the_session_and_it_may_connect_again(
    tab: Tab, server: Served
) -> None:
    await frames(tab, 2)
    await send(tab, "set_red", red=220)
    await see(tab, CENTRE, 220, 40, 120)
    await tab.evaluate("viewer.reactor.disconnect()")
    assert await tab.evaluate("viewer.status") == "disconnected"
    server.wait_for_state("ready", timeout_s=5)
    await tab.evaluate("viewer.reactor.connect()")
    await tab.wait_for("viewer.status === 'ready'")
    await frames(tab, 10)
    await see(tab, CENTRE, 40, 40, 120)


async def test_a_page_that_is_loaded_again_gets_a_new_session(
    tab: Tab, page: str, server: Served
) -> None:
    await send(tab, "set_red", red=220)
    await see(tab, CENTRE, 220, 40, 120)
    await tab.go(page)  # says nothing to the server, whose session has lost its only client
    await tab.wait_for("globalThis.viewer?.status === 'disconnected'")
    await tab.evaluate("viewer.reactor.connect()")
    await tab.wait_for("viewer.status === 'ready'")
    await frames(tab, 10)
    await see(tab, CENTRE, 40, 40, 120)


@pytest.mark.parametrize(
    ("body", "notice", "told"),
    [
        ({"reason": "closing time"}, "sessionEnded", {"reason": "closing time"}),
        ({"moderate": True}, "moderation", {"action": "terminate"}),
    ],
)
async def test_it_is_told_why_the_operator_ends_a_session(
    tab: Tab, server: Served, body: dict[str, object], notice: str, told: dict[str, str]
) -> None:
    await frames(tab, 2)
    post(server, "/stop_session", **body)
    assert (await message(tab, notice, "notices")).items() >= told.items()
    await tab.wait_for("viewer.status === 'disconnected'")
    tab.problems.clear()  # it reports the end of its data channel as an error


# --- clips ---


async def test_a_clip_is_promised_and_plays(browser: Chromium, page: str, server: Served) -> None:
    with serving("tests.models.flashes_and_beeps:FlashesAndBeeps", "--record") as recorded:
        async with viewing(browser, page.replace(server.url, recorded.url), recorded) as tab:
            await frames(tab, 48, 30)
            await send(tab, "requestClip", "runtime", duration_seconds=1)
            clip = await message(tab, "clipReady", "notices")
            assert clip["kind"] == "snap"
            await send(tab, "requestRecording", "runtime")
            await tab.wait_for(f"{NOTICES}.filter((type) => type === 'clipReady').length === 2")
            address = json.dumps(recorded.url + clip["playlist_url"].replace("?", "/file?"))
            played = await tab.evaluate(PLAY_CLIP.replace("ADDRESS", address))
            assert (played["width"], played["duration"] >= 0.9) == (160, True)
            assert tab.problems == []


PLAY_CLIP = """(async () => {
  let answer;
  while ((answer = await fetch(ADDRESS)).status === 202) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const film = document.createElement("video");
  film.src = URL.createObjectURL(await answer.blob());
  await new Promise((resolve) => film.addEventListener("loadeddata", resolve, { once: true }));
  return { duration: film.duration, width: film.videoWidth };
})()"""


# --- its components, and its successor ---


async def test_its_react_components_connect_show_steer_and_publish(
    browser: Chromium, server: Served
) -> None:
    server.wait_for_state("ready")
    source = (SOURCES / "react_page.jsx").read_text()
    with page_of(source, '<div id="root"></div>', suffix="jsx") as address:
        tab = await browser.open(f"{address}?server={server.url}")
        await tab.wait_for("document.getElementById('status')?.innerText === 'ready'")
        video = "document.querySelector('#view video')"
        await tab.show()
        await tab.wait_for(f"{video}.getVideoPlaybackQuality().totalVideoFrames > 24")
        await tab.wait_for("document.getElementById('controls').innerText.includes('set_red')")
        await tab.wait_for("document.querySelector('#camera video')?.videoWidth > 0")
        assert tab.problems == []
        await tab.close()
    server.end_session()


async def test_the_newer_sdks_way_to_begin_is_answered(
    browser: Chromium, page: str, server: Served
) -> None:
    """It opens ``control`` first and, at ready, asks for tracks and schema in one breath."""
    server.wait_for_state("ready")
    first = [pb.ControlClientMessage(kind=pb.MessageKind.MESSAGE_KIND_NOTIFICATION)]
    first[0].resume_track.name = "main_video"
    first.append(
        pb.ControlClientMessage(
            request_id="ctrl_1",
            kind=pb.MessageKind.MESSAGE_KIND_REQUEST,
            request_schema=pb.RequestSchema(),
        )
    )
    first.append(pb.ControlClientMessage(ping=pb.Ping()))
    frames_out = [list(message.SerializeToString()) for message in first]
    tab = await browser.open(page)
    await tab.wait_for("globalThis.viewer")
    script = (SOURCES / "newer_client.js").read_text()
    await tab.evaluate(f"{script}; void begin({json.dumps(server.url)}, {frames_out})")
    await tab.wait_for("globalThis.newer?.control.length > 0 && newer.video.videoWidth > 0")
    answer = pb.ControlServerMessage.FromString(bytes(await tab.evaluate("newer.control[0]")))
    assert answer.request_id == "ctrl_1"
    assert answer.model_schema.openapi["openapi"] == "3.1.0"
    assert tab.problems == []
    await tab.close()
    server.end_session()
