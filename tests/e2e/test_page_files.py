"""Files on the page, in a real browser: chosen, dropped, attached, refused, called off."""

import contextlib
import hashlib
import json
import os
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.e2e.built_in_page import LIVE
from tests.e2e.chromium import Chromium, Tab, find_chromium
from tests.e2e.serving import Served, serving
from tests.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

MODEL = "tests.models.hashes_files:HashesFiles"
FLAGS = ("--max-upload", "4M", "--min-free-disk", "1M")
FEED = "document.getElementById('feed').innerText"
IMAGE, LIST = "[data-field=image]", "[data-command=hash_all]"
PAGE = "[data-command=hash_page]"


def png(width: int, height: int, rows: int | None = None) -> bytes:
    """A grey picture; with fewer *rows* than it says, a broken one."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = (b"\0" + b"\x99" * width) * (height if rows is None else rows)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps files."""
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(scope="module")
def server(kept: Path) -> Iterator[Served]:
    with serving(MODEL, *FLAGS, "--uploads-path", str(kept)) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Chromium, server: Served) -> AsyncIterator[Tab]:
    server.wait_for_state("ready")
    opened = await browser.open()
    await opened.emulate(1280, 1000)
    await opened.go(server.url + "/")
    await opened.wait_for(LIVE)
    await opened.wait_for(f"!!document.querySelector('{PAGE}')")
    yield opened
    problems = opened.problems
    await opened.evaluate("reactor.stop()")
    await opened.close()
    server.wait_for_state("ready")
    assert problems == []


async def choose(tab: Tab, selector: str, *paths: Path) -> None:
    """Choose files in the browser's own dialogue."""
    found = await tab.call(
        "Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})"
    )
    where = found["result"]["objectId"]
    await tab.call("DOM.setFileInputFiles", files=[str(path) for path in paths], objectId=where)


async def drop(tab: Tab, selector: str, *paths: Path) -> None:
    """Drag files from the desktop onto an element and let go."""
    await tab.show()
    box = await tab.wait_for(
        f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
        " e?.scrollIntoView({ block: 'center' }); const b = e?.getBoundingClientRect();"
        " return b && [b.left + b.width / 2, b.top + b.height / 2] })()"
    )
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        await tab.call("Input.dispatchDragEvent", type=kind, x=box[0], y=box[1], data=data)


def forgive(tab: Tab, word: str) -> None:
    """Take note that the browser's console speaks of a request that was to be refused."""
    assert any(word in each for each in tab.problems)
    tab.problems[:] = [each for each in tab.problems if word not in each]


async def test_a_chosen_picture_is_sent_shown_and_used(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "portrait.png"
    path.write_bytes(png(64, 48))
    await choose(tab, f"{IMAGE} input[type=file]", path)
    await tab.wait_for(
        f"document.querySelector('{IMAGE} .file-row.is-sent .thumb img')?.naturalWidth === 64"
    )
    assert (
        await tab.evaluate(f"document.querySelector('{IMAGE} .file-name').innerText") == path.name
    )
    assert await tab.evaluate(f"document.querySelector('{IMAGE} progress')") is None
    await tab.wait_for(f"{FEED}.includes('Came')")  # the hook has run
    await tab.click("[data-command=hash_image]")
    await tab.wait_for(f"{FEED}.includes('{sha256(path.read_bytes())}')")


async def test_dropped_files_are_a_list_that_grows_and_shrinks(tab: Tab, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.bin", "two.bin", "three.bin")]
    for path in paths:
        path.write_bytes(os.urandom(1000))
    rows = f"document.querySelectorAll('{LIST} .file-row.is-sent').length"
    await drop(tab, f"{LIST} .drop", *paths[:2])
    await tab.wait_for(f"{rows} === 2")
    await drop(tab, f"{LIST} .drop", paths[2])
    await tab.wait_for(f"{rows} === 3")
    await tab.click(f"{LIST} .file-row:nth-child(2) .file-remove")
    await tab.wait_for(f"{rows} === 2")
    await tab.click(f"{LIST} button[type=submit]")
    hashes = [sha256(paths[n].read_bytes()) for n in (0, 2)]
    await tab.wait_for(f"{FEED}.includes('{hashes[0]}') && {FEED}.includes('{hashes[1]}')")
    assert sha256(paths[1].read_bytes()) not in await tab.evaluate(FEED)


async def test_a_file_inside_an_object_is_attached_where_it_is_written(
    tab: Tab, tmp_path: Path
) -> None:
    path = tmp_path / "art.bin"
    path.write_bytes(b"some art")
    area = f"document.querySelector('{PAGE} textarea')"
    await tab.click(f"{PAGE} textarea")
    await tab.type('{"title": "one", "art": {"a": [')
    await choose(tab, f"{PAGE} .attach input", path)
    await tab.wait_for(f"{area}.value.endsWith('\"size\":8}}')")
    await tab.type(", ")
    await drop(tab, f"{PAGE} textarea", path)
    await tab.wait_for(f"{area}.value.split('upload_id').length === 3")
    await tab.type("]}}")
    await tab.click(f"{PAGE} button[type=submit]")
    await tab.wait_for(f"{FEED}.split('{sha256(b'some art')}').length === 3")


async def test_what_is_refused_says_why_at_its_field(tab: Tab, tmp_path: Path) -> None:
    large, bomb = tmp_path / "large.bin", tmp_path / "bomb.png"
    large.write_bytes(bytes(5 << 20))
    bomb.write_bytes(png(30_000, 30_000, rows=1))
    problem = f"document.querySelector('{LIST} .problem').innerText"
    await choose(tab, f"{LIST} input[type=file]", large)
    await tab.wait_for(f"{problem}.includes('The file was not sent: the file is too large')")
    await tab.click(f"{LIST} .file-remove")
    assert await tab.evaluate(problem) == ""
    await choose(tab, f"{LIST} input[type=file]", bomb)
    await tab.wait_for(f"{problem}.includes('30000 x 30000')")
    assert await tab.evaluate(f"document.querySelector('{LIST} img')") is None  # nor decoded here
    forgive(tab, "/uploads")


async def test_progress_shows_and_a_file_on_its_way_can_be_called_off(
    tab: Tab, tmp_path: Path, kept: Path
) -> None:
    path = tmp_path / "slow.bin"
    path.write_bytes(os.urandom(3 << 20))
    await tab.call("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1}
    await tab.call("Network.emulateNetworkConditions", **slow, uploadThroughput=400_000)
    await choose(tab, f"{LIST} input[type=file]", path)
    share = f"document.querySelector('{LIST} progress')?.value"
    first = await tab.wait_for(f"{share} > 0.05 && {share}")
    assert first < 1
    await tab.wait_for(f"{share} > {first}")
    await tab.click(f"{LIST} .file-remove")
    assert await tab.evaluate(f"document.querySelectorAll('{LIST} .file-row').length") == 0
    await until(lambda: on_disk(kept) == 0, 10)
    await tab.call("Network.emulateNetworkConditions", **slow, uploadThroughput=-1)


def on_disk(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # on its way out
            total += path.stat().st_size if path.is_file() else 0
    return total


async def test_with_a_token_the_page_sends_files_too(browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "secret.bin"
    path.write_bytes(b"abc")
    with serving(MODEL, "--token", "open-sesame-123") as served:
        tab = await browser.open(f"{served.url}/?token=open-sesame-123")
        await tab.wait_for(LIVE)
        await tab.wait_for(f"!!document.querySelector('{IMAGE}')")
        await choose(tab, f"{IMAGE} input[type=file]", path)
        await tab.wait_for(f"!!document.querySelector('{IMAGE} .file-row.is-sent')")
        assert tab.problems == []
        await tab.close()


async def test_files_have_names_for_everybody_and_room_for_fingers(
    tab: Tab, tmp_path: Path
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"abc")
    await choose(tab, f"{LIST} input[type=file]", path)
    await tab.wait_for(f"!!document.querySelector('{LIST} .file-row.is-sent')")
    await tab.emulate(390, 844, phone=True)
    small = await tab.evaluate(
        "[...document.querySelectorAll('.file-remove, .attach, .drop')]"
        ".map((e) => Math.round(e.getBoundingClientRect().height)).filter((h) => h < 40)"
    )
    assert small == []
    tree = await tab.call("Accessibility.getFullAXTree")
    named = {
        node["name"]["value"]
        for node in tree["nodes"]
        if node.get("role", {}).get("value") == "button" and node.get("name", {}).get("value")
    }
    assert "Remove a.bin" in named
