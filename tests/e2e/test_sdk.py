"""The public Python SDK, unmodified, against a real server."""

import asyncio
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from reactor_sdk import ReactorError
from tests.e2e.sdk_viewer import viewing
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.sources import film, sending

MODELS = Path(__file__).parents[1] / "models"

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(
        own_address() is None,
        reason="the SDK finds no candidates when loopback is the only address",
    ),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("steered:Steered", cwd=MODELS) as served:
        yield served


@pytest.fixture
def url(server: Served) -> str:
    server.wait_for_state("ready")
    return server.url


async def test_connect_shows_video_within_a_second(url: str) -> None:
    async with viewing(url) as viewer:
        await viewer.frames(1, timeout_s=1.0)
        await viewer.frames(20)
        assert viewer.errors == []


async def test_a_command_changes_the_picture(url: str) -> None:
    async with viewing(url) as viewer:
        for color in ("green", "blue", "red"):
            assert await viewer.reactor.send_command("set_color", {"color": color}) is None
            await viewer.see(color)


async def test_a_reply_reaches_the_caller(url: str) -> None:
    async with viewing(url) as viewer:
        reply = await viewer.reactor.send_command("echo", {"text": "hello"})
        assert reply == {"type": "echoed", "data": {"text": "hello"}}
        assert await viewer.message("echoed") == reply["data"]  # as clients.md says


async def test_no_result_is_an_acknowledgement(url: str) -> None:
    async with viewing(url) as viewer:
        assert await viewer.reactor.send_command("nothing", {}) is None


@pytest.mark.parametrize(
    ("command", "payload", "code"),
    [
        ("no_such_command", {}, "invalid_command"),
        ("set_level", {"level": 11}, "invalid_command"),
        ("set_level", {"level": 1.5}, "invalid_command"),
        ("set_level", {"level": True}, "invalid_command"),
        ("set_color", {"color": "mauve"}, "invalid_command"),
        ("echo", {}, "invalid_command"),
        ("nothing", {"extra": 1}, "invalid_command"),
        ("refuse", {}, "too_early"),
        ("break_handler", {}, "internal_error"),
    ],
)
async def test_refusals_carry_their_code(
    url: str, command: str, payload: object, code: str
) -> None:
    async with viewing(url) as viewer:
        with pytest.raises(ReactorError) as refusal:
            await viewer.reactor.send_command(command, payload)
        assert refusal.value.code == code
        assert "secret" not in str(refusal.value)
        reply = await viewer.reactor.send_command("echo", {"text": "still here"})
        assert reply is not None


async def test_an_integral_double_is_an_integer(url: str) -> None:
    async with viewing(url) as viewer:
        assert await viewer.reactor.send_command("set_level", {"level": 3.0}) is None


async def test_a_message_from_the_connect_hook_arrives(url: str) -> None:
    async with viewing(url) as viewer:
        assert (await viewer.message("welcome"))["client"]


async def test_a_broadcast_reaches_everybody(url: str) -> None:
    async with viewing(url) as first, viewing(url, first.reactor.session_id) as second:
        await second.frames(1)  # the SDK is ready a moment before the server knows of it
        await first.reactor.send_command("announce", {"text": "to all"})
        for viewer in (first, second):
            assert await viewer.message("announced") == {"text": "to all"}


async def test_a_second_client_joins_by_session_id_and_the_first_stays(url: str) -> None:
    async with viewing(url) as first:
        async with viewing(url, first.reactor.session_id) as second:
            await second.frames(5)
            await first.frames(5)
        await first.frames(5)


async def test_the_schema_is_the_served_one(server: Served, url: str) -> None:
    async with viewing(url) as viewer:
        schema = await viewer.reactor.request_schema()
        assert schema["openapi"] == "3.1.0"
        assert "/events/set_color" in schema["paths"]


async def test_pause_stops_the_picture_and_resume_brings_it_back(url: str) -> None:
    async with viewing(url) as viewer:
        await viewer.frames(5)
        track = viewer.reactor.track("main_video")
        await track.pause()
        await viewer.reactor.send_command("nothing", {})
        await asyncio.sleep(0.5)  # what was on its way arrives
        before = len(viewer.pictures)
        await asyncio.sleep(0.7)  # nothing happening is what is tested: there is no event to await
        assert len(viewer.pictures) - before <= 1
        await track.resume()
        await viewer.frames(5)


async def test_reconnect_returns_to_the_same_session(url: str) -> None:
    async with viewing(url) as viewer:
        await viewer.reactor.send_command("set_color", {"color": "blue"})
        await viewer.see("blue")
        await asyncio.wait_for(viewer.reactor.reconnect(), 20)
        await viewer.see("blue")


async def test_a_published_camera_comes_back_in_the_picture(url: str) -> None:
    async with viewing(url) as viewer:
        await viewer.reactor.send_command("set_camera", {"camera": True})
        camera = await viewer.reactor.track("webcam").publish()
        picture = np.zeros((240, 320, 3), np.uint8)
        picture[..., 1] = 200
        async with sending(film(camera, lambda: picture)):
            await viewer.see("green")
            picture[..., 1], picture[..., 2] = 0, 200
            await viewer.see("blue")


async def test_a_second_publisher_is_refused(url: str) -> None:
    async with viewing(url) as first, viewing(url, first.reactor.session_id) as second:
        await first.reactor.track("webcam").publish()
        with pytest.raises(ReactorError) as refusal:
            await second.reactor.track("webcam").publish()
        assert refusal.value.code == "publish_refused"


async def test_an_exception_in_a_step_is_told_and_the_next_session_works(
    server: Served, url: str
) -> None:
    async with viewing(url) as viewer:
        await viewer.frames(3)
        await viewer.reactor.send_command("break_step", {})
        await viewer.until(lambda: viewer.errors, 5)
    server.wait_for_state("ready")
    assert server.log().count("ValueError: the step broke on purpose") == 1
    async with viewing(server.url) as viewer:
        await viewer.frames(3)


async def test_disconnect_by_the_creator_stops_the_session(server: Served, url: str) -> None:
    async with viewing(url) as viewer:
        await viewer.frames(1)
        await viewer.reactor.disconnect()
        server.wait_for_state("ready", timeout_s=3)
        assert viewer.errors == []


async def test_an_end_by_others_is_told_at_once_and_why(server: Served, url: str) -> None:
    def stop() -> None:
        body, kind = b'{"reason": "tea time"}', {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{server.url}/stop_session", body, kind)
        urllib.request.urlopen(asked, timeout=10).close()

    async with viewing(url) as first, viewing(url, first.reactor.session_id) as second:
        await second.frames(1)
        await asyncio.to_thread(stop)
        for viewer in (first, second):
            await viewer.until(lambda: viewer.errors, 3)  # noqa: B023 - it is awaited here
            assert viewer.errors == ["[session_ended] the session has ended: tea time"]


TOKEN = "open:sesame/123@é%"


@pytest.fixture
def guarded() -> Iterator[Served]:
    with serving("steered:Steered", "--record", cwd=MODELS, REACTOR_TOKEN=TOKEN) as served:
        yield served


def address(served: Served, token: str) -> str:
    return served.url.replace("//", f"//reactor:{quote(token, safe='')}@")


async def test_with_the_token_in_its_address_it_does_everything(
    guarded: Served, tmp_path: Path
) -> None:
    url = address(guarded, TOKEN)
    async with viewing(url) as viewer, viewing(url, viewer.reactor.session_id) as second:
        await viewer.frames(3)
        await second.frames(3)
        reply = await viewer.reactor.send_command("echo", {"text": "hello"})
        assert reply == {"type": "echoed", "data": {"text": "hello"}}
        upload = await viewer.reactor.upload_file(b"abc", name="a.bin", mime_type="x/y")
        assert upload.size == 3
        await viewer.reactor.reconnect()
        await viewer.frames(30)
        for reactor in (viewer.reactor, second.reactor):  # one has offered again
            clip = await reactor.request_clip(1)
            assert clip.playlist_url.startswith(f"{guarded.url}/clips?")
            await asyncio.wait_for(reactor.download(clip, tmp_path / "clip.mp4"), 30)
            assert (tmp_path / "clip.mp4").read_bytes()[4:8] == b"ftyp"
            (tmp_path / "clip.mp4").unlink()
    assert "sesame" not in guarded.log()


async def test_without_the_token_or_with_a_wrong_one_it_is_told_which(guarded: Served) -> None:
    for url, told in (
        (guarded.url, "a token is needed"),
        (address(guarded, "guessed"), "the token is not right"),
    ):
        with pytest.raises(ReactorError, match=told) as refusal:
            async with viewing(url):
                pass
        assert refusal.value.code == "UNAUTHORIZED"
