"""What docs/clients.md shows runs as it stands, against the model it shows."""

import asyncio
import contextlib
import io
import json
import re
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.js_bundle import page_of
from tests.e2e.serving import ROOT, Served, own_address, serving
from tests.e2e.snippets import snippet
from tests.unit.recording.material import levels

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
PAGE = "docs/clients.md"
ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture
def collage(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "collage.py").write_text(snippet(PAGE, "python", "# collage.py"))
    with serving("collage:Collage", cwd=tmp_path) as served:
        yield served
        assert "error" not in served.log()


def code(served: Served, holding: str, language: str = "python") -> str:
    """Return a snippet that speaks to *served*."""
    text = snippet(PAGE, language, holding)
    assert ADDRESS in text
    return text.replace(ADDRESS, served.url)


async def test_a_file_by_the_python_sdk(collage: Served) -> None:
    names: dict[str, Any] = {}
    exec(f"async def run():\n{textwrap.indent(code(collage, 'back.raw'), '    ')}", names)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        await asyncio.wait_for(names["run"](), 60)
    assert said.getvalue() == "['cover.raw', 'back.raw']\n"


async def test_pictures_and_messages_by_the_python_sdk(collage: Served) -> None:
    text = code(collage, "on_frame(show)")
    names: dict[str, Any] = {}
    exec(f"async def run():\n{textwrap.indent(text, '    ')}", names)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        await asyncio.wait_for(names["run"](), 60)
    assert said.getvalue().splitlines() == re.findall(r"print\(.*\)  # (.*)", text)


async def test_a_camera_by_the_python_sdk(collage: Served) -> None:
    names: dict[str, Any] = {}
    exec(f"async def run():\n{textwrap.indent(code(collage, 'push_frame('), '    ')}", names)
    await asyncio.wait_for(names["run"](), 60)  # it ends once its camera comes back


def table() -> list[tuple[str, str]]:
    """Return method and path of every route in the page's table."""
    text = Path(ROOT, PAGE).read_text(encoding="utf-8").partition("## HTTP\n")[2]
    rows = re.findall(r"^\| (`.*?) \|", text.partition("\n## ")[0], re.MULTILINE)
    return re.findall(r"`([A-Z]+) (/[^`]*)`", "".join(rows))


def test_the_routes_of_the_page_are_the_servers(collage: Served) -> None:
    routes = table()
    assert {("POST", "/stop_session"), ("GET", "/schema")} <= set(routes)
    for method, path in routes:
        asked = urllib.request.Request(collage.url + path, method="DELETE")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=10)
        with refused.value as error:
            assert error.code == 405, path
            assert method in error.headers["Allow"], path


async def test_a_clip_by_the_python_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "collage.py").write_text(snippet(PAGE, "python", "# collage.py"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with serving("collage:Collage", "--record", cwd=tmp_path) as served:
        text = textwrap.indent(code(served, "request_clip("), "    ")
        exec(f"async def run():\n{text}", names)
        await asyncio.wait_for(names["run"](), 60)
        await asyncio.to_thread(fetch_by_curl, served, tmp_path)
        assert "error" not in served.log()
    assert len(levels(Path("clip.mp4"))) > 24
    assert len(levels(Path("last_seconds.mp4"))) > 24
    assert len(levels(Path("session.mp4"))) > 48


def fetch_by_curl(served: Served, folder: Path) -> None:
    """Fetch a clip with the two commands of the page; the first tells the recording's id."""
    listen, fetch = code(served, "chunk_ready", "sh").splitlines()
    told = subprocess.run(["sh", "-c", f"timeout 5 {listen}"], capture_output=True, timeout=30)
    recording = json.loads(told.stdout.removeprefix(b"data: "))["detail"]["recording_id"]
    fetch = fetch.replace("RECORDING", recording).replace("curl", "curl --fail --silent")
    assert "end=10" in fetch  # of a session that was shorter
    subprocess.run(fetch.replace("end=10", "end=3"), shell=True, check=True, cwd=folder, timeout=30)


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
async def test_a_file_by_the_js_sdk(collage: Served) -> None:
    said = re.findall(r"// (received|hung) (.*)", code(collage, "// collage.js", "js"))
    page = "<video muted autoplay></video><script>said = []; console.log = (...s) => said.push(s)"
    shade = """(() => {
      const canvas = new OffscreenCanvas(1, 1).getContext("2d");
      canvas.drawImage(document.querySelector("video"), 100, 100, 1, 1, 0, 0, 1, 1);
      return Math.abs(canvas.getImageData(0, 0, 1, 1).data[0] - 200) < 12;
    })()"""
    with page_of(code(collage, "// collage.js", "js"), f"{page}</script>") as address:
        async with Chromium() as browser:
            tab = await browser.open(address)
            await tab.wait_for("globalThis.said?.length >= 2", 30)
            assert await tab.evaluate("said") == [list(pair) for pair in said]
            await tab.wait_for(shade)
            assert tab.problems == []


async def test_a_start_over_plain_http(collage: Served, tmp_path: Path) -> None:
    text = code(collage, "# start.py")
    (tmp_path / "start.py").write_text(text)
    program = await asyncio.create_subprocess_exec(
        sys.executable, "start.py", cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await asyncio.wait_for(program.communicate(), 30)
    assert printed.decode() == text.rsplit("  # ", 1)[1]
    session_id = json.loads(collage.get("/session")[1])["session_id"]
    async with viewing(collage.url, session_id) as viewer:
        collage.wait_for_state("ready")
        assert 30 <= len(viewer.pictures) <= 48
        assert all(abs(picture[0] - 200) < 12 for _, picture in viewer.pictures)


async def test_a_started_session_is_stopped_as_the_page_says(
    collage: Served, tmp_path: Path
) -> None:
    (tmp_path / "start.py").write_text(code(collage, "# start.py"))
    await run_here(tmp_path, sys.executable, "start.py")
    assert collage.state() == "waiting"
    await run_here(tmp_path, "sh", "-c", code(collage, "stop_session", "sh"))
    collage.wait_for_state("ready")


async def run_here(folder: Path, *command: str) -> None:
    program = await asyncio.create_subprocess_exec(*command, cwd=folder)
    assert await asyncio.wait_for(program.wait(), 30) == 0


async def test_a_file_over_plain_http(collage: Served, tmp_path: Path) -> None:
    (tmp_path / "upload.py").write_text(code(collage, "# upload.py"))
    (tmp_path / "cover.png").write_bytes(b"\xc8")
    async with viewing(collage.url) as viewer:
        program = await asyncio.create_subprocess_exec(
            sys.executable, "upload.py", "cover.png", cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        printed, _ = await asyncio.wait_for(program.communicate(), 30)
        reference = json.loads(printed)
        assert reference == {**reference, "name": "cover.png", "mime_type": "image/png", "size": 1}
        reply = await viewer.reactor.send_command("hang", {"files": [reference]})
        assert reply == {"type": "hung", "data": {"names": ["cover.png"]}}
