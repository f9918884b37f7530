"""Files from the public Python SDK, unmodified, to a model on one rank and on two."""

import asyncio
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from reactor_sdk import ReactorError
from tests.e2e.sdk_viewer import SdkViewer, viewing
from tests.e2e.serving import Served, own_address, serving

MODEL = "tests.models.hashes_files:HashesFiles"
RANKS = ("--world-size", "2", "--no-init-process-group", "--check-lockstep")
SETTINGS = ("--max-upload", "64M", "--max-session-uploads", "100M", "--min-free-disk", "1M")

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]


@pytest.fixture(scope="module", params=[(), RANKS], ids=["in_process", "two_ranks"])
def server(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(MODEL, *SETTINGS, *request.param) as served:
        yield served
        assert "Traceback" not in served.log()


@pytest.fixture
def url(server: Served) -> str:
    server.wait_for_state("ready")
    return server.url


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def ask(viewer: SdkViewer, command: str, **arguments: Any) -> dict[str, Any]:
    """Call a command and return its answer's body."""
    reply = await viewer.reactor.send_command(command, arguments)
    return dict(reply["data"])


async def send(viewer: SdkViewer, data: bytes, name: str = "a.bin") -> Any:
    return await viewer.reactor.upload_file(data, name=name, mime_type="x/y")


@pytest.mark.parametrize("size", [1, 70_000, 20_000_000])
async def test_a_file_reaches_every_rank_whole(url: str, server: Served, size: int) -> None:
    data = os.urandom(size)
    async with viewing(url) as viewer:
        file = await send(viewer, data)
        answer = await ask(viewer, "hash_one", file=file)
        assert answer == {"names": ["a.bin"], "hashes": [sha256(data)]}
        assert await viewer.message("came") == {"name": "a.bin", "size": size}
        await viewer.frames(5)
    told = [line for line in server.log().splitlines() if sha256(data) in line]
    hashed = [line for line in told if "files_hashed" in line]
    assert len(hashed) == (2 if "--world-size" in " ".join(server.process.args) else 1)  # type: ignore[arg-type]


async def test_lists_objects_and_state_hold_files(url: str) -> None:
    data = [bytes([n]) * (50_000 * n) for n in (1, 2, 3)]
    async with viewing(url) as viewer:
        files = [await send(viewer, each, f"{n}") for n, each in enumerate(data)]
        hashes = list(map(sha256, data))
        assert (await ask(viewer, "hash_all", files=files))["hashes"] == hashes
        page = {"title": "one", "art": {"a": [vars_of(files[0])], "b": list(map(vars_of, files))}}
        answer = await ask(viewer, "hash_page", page=page)
        assert answer["hashes"] == [hashes[0], *hashes]
        await viewer.reactor.send_command("set_image", {"image": files[2]})
        assert (await ask(viewer, "hash_image"))["hashes"] == [hashes[2]]
        await viewer.frames(5)  # lockstep is compared after every turn
        await viewer.reactor.send_command("set_image", {"image": None})
        assert (await ask(viewer, "hash_image"))["hashes"] == []


def vars_of(file: Any) -> dict[str, Any]:
    """The inline form of a reference, whatever the SDK makes of it."""
    return {key: getattr(file, key) for key in ("upload_id", "name", "mime_type", "size")}


async def test_a_path_is_sent_under_its_own_name(url: str, tmp_path: Path) -> None:
    path = tmp_path / "portrait.png"
    path.write_bytes(b"\x89PNG not really")
    async with viewing(url) as viewer:
        file = await viewer.reactor.upload_file(path)
        answer = await ask(viewer, "hash_one", file=file)
        assert answer == {"names": ["portrait.png"], "hashes": [sha256(path.read_bytes())]}


async def test_too_large_a_file_is_refused_with_words_and_the_client_goes_on(url: str) -> None:
    async with viewing(url) as viewer:
        with pytest.raises(ReactorError, match="64 MiB") as caught:
            await send(viewer, bytes(65 << 20))
        assert caught.value.code == "BAD_REQUEST"
        await send(viewer, bytes(60 << 20))
        with pytest.raises(ReactorError, match="100 MiB a session"):
            await send(viewer, bytes(60 << 20))
        await viewer.frames(3)


async def test_a_command_overtakes_its_file(url: str) -> None:
    data = os.urandom(100_000)
    async with viewing(url) as viewer, httpx.AsyncClient(trust_env=False) as http:
        session = f"{url}/sessions/{viewer.reactor.session_id}/uploads"
        body = {"name": "late", "mime_type": "x/y", "size": len(data)}
        place = (await http.post(session, json=body)).json()
        file = {"upload_id": place["presigned_id"], **body}
        early = asyncio.create_task(ask(viewer, "hash_all", files=[file]))
        async with viewing(url, viewer.reactor.session_id) as other:
            await other.reactor.send_command("set_level", {"level": 9})  # nobody else waits
            assert not early.done()
            assert (await http.put(place["presigned_url"], content=data)).status_code == 200
            assert (await early)["hashes"] == [sha256(data)]


async def test_what_was_never_reserved_is_unresolved_at_once(url: str) -> None:
    file = {"upload_id": "0" * 32, "name": "x", "mime_type": "x/y", "size": 3}
    async with viewing(url) as viewer:
        async with asyncio.timeout(5):  # the SDK itself would wait for ten
            with pytest.raises(ReactorError) as caught:
                await viewer.reactor.send_command("hash_all", {"files": [file]})
        assert caught.value.code == "unresolved_upload"


async def test_files_of_one_session_are_unknown_to_the_next(server: Served, url: str) -> None:
    async with viewing(url) as viewer:
        file = vars_of(await send(viewer, b"mine"))
    server.wait_for_state("ready")
    async with viewing(url) as viewer:
        with pytest.raises(ReactorError) as caught:
            await viewer.reactor.send_command("hash_all", {"files": [file]})
        assert caught.value.code == "unresolved_upload"
