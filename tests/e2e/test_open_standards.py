"""WHEP players and WHIP publishers: GStreamer, a page of ten lines, and requests that are wrong."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.js_bundle import site_of
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.snippets import snippet
from tests.lonely_host import needs_namespace, run_lonely
from tests.unit.webrtc.offers import application, audio, offer, video

PAGE = "docs/clients.md"
TOKEN = "a-token"
SDP = {"Content-Type": "application/sdp"}
TRICKLE = {"Content-Type": "application/trickle-ice-sdpfrag"}
# Nobody is there, but a host that has only loopback must find a path thinkable.
NEAR = "a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r\n"
OFFER = offer(video("0", codecs=NEAR + "a=rtpmap:96 VP8/90000\r\n", formats="96"))
SENDS = offer(video("0", way="sendonly", codecs=NEAR + "a=rtpmap:96 VP8/90000\r\n"))
PYTHON = "/usr/bin/python3"


def has_gstreamer() -> bool:
    check = "import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst; "
    check += "Gst.init(None)"
    needed = "webrtcbin", "nicesrc", "vp8dec", "opusdec"
    check += f"; assert all(map(Gst.ElementFactory.find, {needed}))"
    with contextlib.suppress(FileNotFoundError):
        done = subprocess.run([PYTHON, "-W", "ignore", "-c", check], capture_output=True)
        return done.returncode == 0
    return False


needs_gstreamer = pytest.mark.skipif(not has_gstreamer(), reason="GStreamer is not installed")
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
needs_address = pytest.mark.skipif(own_address() is None, reason="only loopback: no candidates")


class GStreamer:
    """One run of ``gstreamer_client.py``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def until(self, key: str, *values: object, within_s: float = 30.0) -> object:
        """Return the next value said of *key* that is among *values* (of any, if none)."""
        assert self._process.stdout is not None
        async with asyncio.timeout(within_s):
            while line := await self._process.stdout.readline():
                said = json.loads(line)
                if key in said and (not values or said[key] in values):
                    return said[key]
        raise AssertionError(f"GStreamer has ended without saying {key} {values}")

    async def delete(self) -> None:
        """Let it end its connection."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        await self.until("deleted", 200)


@contextlib.asynccontextmanager
async def gstreamer(way: str, url: str, token: str = "") -> AsyncIterator[GStreamer]:
    script = Path(__file__).with_name("gstreamer_client.py")
    pipe = asyncio.subprocess.PIPE
    command = [PYTHON, str(script), way, url, *([token] if token else [])]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield GStreamer(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.fixture(scope="module")
def painted() -> Iterator[Served]:
    with serving("tests.models.painted:Painted") as served:
        yield served
        assert "Traceback" not in served.log()


@pytest.fixture
async def http(painted: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=painted.url, timeout=20, trust_env=False) as client:
        yield client


def figure(served: Served, name: str) -> float:
    """Return one figure of a server that has the token, 0 where there is none yet."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    text = httpx.get(f"{served.url}/metrics", headers=headers, trust_env=False).text
    found = [line for line in text.splitlines() if line.startswith(name)]
    return float(found[0].rsplit(" ", 1)[1]) if found else 0.0


@needs_gstreamer
@needs_address
async def test_gstreamer_plays_and_feeds_a_model_and_counts_as_a_client() -> None:
    frames, clients = 'reactor_input_frames_total{track="webcam"}', "reactor_clients "
    with serving("tests.models.painted:Painted", "--token", TOKEN) as served:
        stranger = await asyncio.to_thread(offered, f"{served.url}/whep", OFFER)
        assert stranger.status_code == 401
        async with gstreamer("player", f"{served.url}/whep", TOKEN) as player:
            await player.until("luma", *range(45, 75))  # (40, 40, 120), painted
            await player.until("hz", *range(436, 445))
            await reached(served, clients, lambda count: count == 1)
            webcam = f"{served.url}/whip/webcam"
            async with gstreamer("camera", webcam, TOKEN) as camera:
                await reached(served, frames, lambda count: count > 20)
                await reached(served, clients, lambda count: count == 2)
                second = await asyncio.to_thread(offered, webcam, SENDS, TOKEN)
                assert (second.status_code, "another client feeds" in second.text) == (409, True)
                await camera.delete()
            await reached(served, clients, lambda count: count == 1)
            assert (await asyncio.to_thread(offered, webcam, SENDS, TOKEN)).status_code == 201
            await reached(served, clients, lambda count: count == 1)
            await player.until("luma")
            await player.delete()
        await reached(served, clients, lambda count: count == 0)
        assert "connection_failed" not in served.log()


def offered(url: str, sdp: str, token: str = "") -> httpx.Response:
    """Return the answer to an offer that nobody stands behind."""
    headers = {**SDP, **({"Authorization": f"Bearer {token}"} if token else {})}
    return httpx.post(url, content=sdp, headers=headers, trust_env=False, timeout=20)


@needs_gstreamer
@needs_address
async def test_gstreamer_trickles_its_candidates(painted: Served) -> None:
    async with gstreamer("trickling_player", f"{painted.url}/whep") as player:
        assert await player.until("patched") == 204
        await player.until("luma", *range(45, 75))
        await player.delete()


@needs_gstreamer
@needs_address
async def test_sound_goes_in_from_a_publisher_and_out_to_a_player() -> None:
    with serving("tests.models.reads_a_microphone:ReadsAMicrophone") as served:
        async with (
            gstreamer("microphone", f"{served.url}/whip/mic") as microphone,
            gstreamer("player", f"{served.url}/whep") as player,
        ):
            await player.until("hz", *range(690, 711))
            await microphone.delete()
            await player.delete()


async def reached(served: Served, name: str, condition: Callable[[float], bool]) -> None:
    """Wait until a figure of a server is as it should be."""
    async with asyncio.timeout(20):
        while not condition(await asyncio.to_thread(figure, served, name)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # polling another process: it has no condition to wait on


def write_pages(folder: Path, url: str) -> None:
    for name in ("watch.html", "camera.html"):
        text = snippet(PAGE, "html", f"<!-- {name} -->")
        assert "http://127.0.0.1:8080" in text
        Path(folder, "favicon.ico").touch()  # a browser asks for it
        Path(folder, name).write_text(text.replace("http://127.0.0.1:8080", url))


@pytest.mark.browser
@needs_browser
@needs_address
async def test_a_page_of_ten_lines_plays_and_another_feeds(painted: Served, tmp_path: Path) -> None:
    write_pages(tmp_path, painted.url)
    levels = """(x) => {
      const canvas = new OffscreenCanvas(1, 1).getContext("2d");
      canvas.drawImage(document.querySelector("video"), x, 100, 1, 1, 0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    }"""
    with site_of(tmp_path) as address:
        async with Chromium() as browser:
            tab = await browser.open(f"{address}watch.html")
            await tab.wait_for(f"Math.abs(({levels})(100)[2] - 120) < 20", 30)
            before = await tab.evaluate(f"({levels})(300)")
            camera = await browser.open(f"{address}camera.html")
            changed = f"({levels})(300).some((v, i) => Math.abs(v - {before}[i]) > 30)"
            await tab.wait_for(changed, 30)
            assert tab.problems == camera.problems == []


async def test_an_offer_makes_a_resource_that_can_be_deleted(http: httpx.AsyncClient) -> None:
    made = await http.post("/whep", content=OFFER, headers={**SDP, "Origin": "http://localhost:1"})
    assert (made.status_code, made.headers["content-type"]) == (201, "application/sdp")
    assert "a=sendonly" in made.text
    assert "a=end-of-candidates" in made.text
    exposed = made.headers["access-control-expose-headers"]
    assert {"Location", "ETag", "Link"} <= set(exposed.split(", "))
    resource, tag = made.headers["location"], {"If-Match": made.headers["etag"]}
    assert resource.startswith("/whep/")
    assert (await http.get(resource)).status_code == 204
    fragment = f"a=ice-ufrag:abcd\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n{NEAR}"
    for headers, body, status in (
        ({**TRICKLE, **tag}, fragment, 204),
        ({**TRICKLE, **tag}, fragment.replace("abcd", "wxyz"), 422),
        ({**TRICKLE, **tag}, "{}", 400),
        ({**TRICKLE, "If-Match": '"another"'}, fragment, 412),
        (TRICKLE, fragment, 428),
        ({**SDP, **tag}, fragment, 415),
    ):
        patched = await http.patch(resource, content=body, headers=headers)
        assert patched.status_code == status, patched.text
        assert status == 204 or patched.json()["detail"]
    assert (await http.post(resource, content=OFFER, headers=SDP)).status_code == 405
    assert (await http.delete(resource)).status_code == 200
    for gone in (await http.delete(resource), await http.get(resource)):
        assert gone.status_code == 404


async def test_what_is_wrong_with_an_offer_is_said(http: httpx.AsyncClient) -> None:
    for path, body, headers, status, said in (
        ("/whep", OFFER, {"Content-Type": "application/json"}, 415, "application/sdp"),
        ("/whep", OFFER, {**SDP, "Accept": "application/json"}, 406, "application/sdp"),
        ("/whep", "v=1", SDP, 422, "does not begin with v=0"),
        ("/whep", SENDS, SDP, 422, "main_video"),
        ("/whep", offer(application("0")), SDP, 422, "no section"),
        ("/whep", "v=0\r\n" + "a=x\r\n" * 60_000, SDP, 413, "larger"),
        ("/whip/webcam", OFFER, SDP, 422, "video for 'webcam'"),
        ("/whip/webcam", offer(audio("0", way="sendonly")), SDP, 422, "'webcam'"),
        ("/whip/main_video", SENDS, SDP, 404, "it has webcam"),
    ):
        answer = await http.post(path, content=body, headers=headers)
        assert (answer.status_code, said in answer.text) == (status, True), answer.text
    for path in ("/whep", "/whip/webcam"):
        assert (await http.get(path)).status_code == 204
        refused = await http.put(path, content=OFFER, headers=SDP)
        assert refused.status_code == 405
        assert "POST" in refused.headers["allow"]
        asked = await http.options(path)
        assert (asked.status_code, asked.headers["accept-post"]) == (200, "application/sdp")


async def test_an_offer_starts_a_session_where_none_runs_and_a_wrong_one_does_not() -> None:
    with serving("tests.models.painted:Painted") as served:
        async with httpx.AsyncClient(base_url=served.url, timeout=20, trust_env=False) as http:
            assert (await http.post("/whep", content="v=0", headers=SDP)).status_code == 422
            assert served.state() == "ready"
            posts = (http.post("/whep", content=OFFER, headers=SDP) for _ in range(4))
            made = await asyncio.gather(*posts)
            assert [each.status_code for each in made] == [201] * 4
            assert (await http.get("/session")).json()["session_number"] == 1
            (await http.post("/stop_session", json={})).raise_for_status()
            served.wait_for_state("ready")
            assert (await http.delete(made[0].headers["location"])).status_code == 404


async def test_while_a_model_loads_an_offer_is_told_when_to_come_back() -> None:
    with serving("tests.models.slow_import:SlowImport", ready=False) as served:
        async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
            for _ in range(200):
                with contextlib.suppress(httpx.ConnectError):
                    answer = await http.post(f"{served.url}/whep", content=OFFER, headers=SDP)
                    break
                await asyncio.sleep(0.05)  # it does not listen yet
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


async def test_where_there_is_no_place_an_offer_is_told_when_to_come_back() -> None:
    with serving("tests.models.painted:Painted", "--max-connections", "1") as served:
        async with httpx.AsyncClient(base_url=served.url, timeout=20, trust_env=False) as http:
            made = await http.post("/whep", content=OFFER, headers=SDP)
            for path, sdp in (("/whep", OFFER), ("/whip/webcam", SENDS)):
                refused = await http.post(path, content=sdp, headers=SDP)
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                assert refused.json() == {"detail": "all 1 connections are taken"}
            assert (await http.delete(made.headers["location"])).status_code == 200
            async with asyncio.timeout(20):
                while (await http.post("/whep", content=OFFER, headers=SDP)).status_code != 201:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)  # polling another process


async def test_while_a_session_closes_an_offer_is_told_when_to_come_back() -> None:
    with serving("tests.models.sleeps_in_step:SleepsInStep") as served:
        async with httpx.AsyncClient(base_url=served.url, timeout=20, trust_env=False) as http:
            call = {"command": "block_in_command", "data": {"seconds": 5.0}}
            starting = asyncio.create_task(
                http.post("/start_session", json={"starting_input": {"commands": [call]}})
            )
            await asyncio.to_thread(served.wait_for_state, "waiting")
            (await http.post("/stop_session", json={})).raise_for_status()
            assert served.state() == "closing"
            refused = await http.post("/whep", content=OFFER, headers=SDP)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            await starting


async def test_ice_servers_come_in_link_headers() -> None:
    flags = ("--stun", "stun:127.0.0.1:9", "--turn", 'turn:me:se"cret@127.0.0.1:9?transport=udp')
    with serving("tests.models.painted:Painted", *flags) as served:
        for path, sdp in (("whep", OFFER), ("whip/webcam", SENDS)):
            made = await asyncio.to_thread(offered, f"{served.url}/{path}", sdp)
            assert made.status_code == 201
            assert made.headers.get_list("link") == [
                '<stun:127.0.0.1:9>; rel="ice-server"',
                '<turn:127.0.0.1:9?transport=udp>; rel="ice-server"; username="me"; '
                'credential="se\\"cret"; credential-type="password"',
            ]


@needs_namespace
def test_where_no_network_leads_to_the_client_an_offer_is_told_so() -> None:
    run_lonely(__name__, "offer_from_afar")


async def offer_from_afar() -> None:
    """What the test above runs where there is nothing but loopback."""
    from_afar = OFFER.replace("127.0.0.1", "192.0.2.7")
    with serving("tests.models.painted:Painted") as served:
        for path, sdp in (("whep", from_afar), ("whip/webcam", SENDS.replace("127.0.0.1", "::9"))):
            refused = await asyncio.to_thread(offered, f"{served.url}/{path}", sdp)
            assert (refused.status_code, "loopback" in refused.text) == (503, True), refused.text
            assert "retry-after" not in refused.headers
        assert (await asyncio.to_thread(offered, f"{served.url}/whep", OFFER)).status_code == 201
