"""Clips over HTTP: the answers of a server with one recording, and of one that makes none."""

import math
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.unit.recording.material import open_shelf, record

from reactor_runtime.http.stage import Stage
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.testing.fake_clock import FakeClock

ClientOf = Callable[[Stage], AbstractAsyncContextManager[httpx.AsyncClient]]
UNKNOWN = "f" * 32


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shelf(tmp_path: Path, clock: FakeClock) -> Iterator[Shelf]:
    with open_shelf(tmp_path / "shelf", clock) as shelf:
        yield shelf


@pytest.fixture
def recording(shelf: Shelf) -> Recording:
    """Seven seconds, in segments of two; the session goes on."""
    return record(shelf, 6.0)


@pytest.fixture
async def http(stage: Stage, shelf: Shelf, connect: ClientOf) -> AsyncIterator[httpx.AsyncClient]:
    stage.recordings = shelf
    async with connect(stage) as client:
        yield client


def range_of(recording: Recording, start: Any, end: Any) -> dict[str, Any]:
    return {"session_id": recording.id, "start": start, "end": end}


async def test_a_closed_clip_has_a_playlist(http: httpx.AsyncClient, recording: Recording) -> None:
    answer = await http.get("/clips", params=range_of(recording, 2.5, 5.9))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/vnd.apple.mpegurl"
    assert answer.text.count("#EXTINF") == 2


async def test_its_parts_are_its_file(http: httpx.AsyncClient, recording: Recording) -> None:
    asked = range_of(recording, 2.5, 5.9)
    playlist = (await http.get("/clips", params=asked)).text
    head = re.findall(r'#EXT-X-MAP:URI="(.+)"', playlist)
    parts = [line for line in playlist.splitlines() if not line.startswith("#")]
    answers = [await http.get(url) for url in [*head, *parts]]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    kinds = ["video/mp4", "video/iso.segment", "video/iso.segment"]
    assert [answer.headers["content-type"] for answer in answers] == kinds
    whole = await http.get("/clips/file", params=asked)
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["content-disposition"] == 'attachment; filename="clip.mp4"'
    assert whole.headers["content-length"] == str(len(whole.content))
    assert whole.content == b"".join(answer.content for answer in answers)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [("0-", range(10**6)), ("0-9", range(10)), ("900-2500", range(900, 2501)), ("-7", None)],
)
async def test_a_browser_that_seeks_fetches_a_part_of_the_file(
    http: httpx.AsyncClient, recording: Recording, asked: str, wanted: range | None
) -> None:
    clip = range_of(recording, 0, 5.9)
    whole = await http.get("/clips/file", params=clip)
    assert (whole.status_code, whole.headers["accept-ranges"]) == (200, "bytes")
    told = await http.head("/clips/file", params=clip)
    assert (told.headers, told.content) == (whole.headers, b"")
    total = len(whole.content)
    span = range(total)[slice(-7, None) if wanted is None else slice(wanted.start, wanted.stop)]
    headers = {"Range": f"bytes={asked}", "If-Range": whole.headers["etag"]}
    part = await http.get("/clips/file", params=clip, headers=headers)
    assert part.status_code == 206
    assert part.headers["content-range"] == f"bytes {span.start}-{span.stop - 1}/{total}"
    assert part.headers["content-length"] == str(len(span))
    assert part.content == whole.content[span.start : span.stop]


async def test_a_part_that_is_not_there_is_416_and_one_of_another_file_is_all_of_this(
    http: httpx.AsyncClient, recording: Recording
) -> None:
    clip = range_of(recording, 0, 5.9)
    whole = await http.get("/clips/file", params=clip)
    beyond = {"Range": f"bytes={len(whole.content)}-"}
    refused = await http.get("/clips/file", params=clip, headers=beyond)
    assert refused.status_code == 416
    assert refused.headers["content-range"] == f"bytes */{len(whole.content)}"
    other = await http.get("/clips/file", params=range_of(recording, 2.5, 5.9))
    changed = {"Range": "bytes=5-9", "If-Range": other.headers["etag"]}
    again = await http.get("/clips/file", params=clip, headers=changed)
    assert (again.status_code, again.content) == (200, whole.content)


@pytest.mark.parametrize("header", ["items=0-1", "bytes=5-2", "bytes=0-1,5-6"])
async def test_a_range_that_is_not_understood_is_no_part(
    http: httpx.AsyncClient, recording: Recording, header: str
) -> None:
    clip = range_of(recording, 0, 5.9)
    whole = await http.get("/clips/file", params=clip)
    answer = await http.get("/clips/file", params=clip, headers={"Range": header})
    assert (answer.status_code, answer.content) == (200, whole.content)
    assert "content-range" not in answer.headers


async def test_parts_can_be_asked_for_without_a_clip(
    http: httpx.AsyncClient, shelf: Shelf, recording: Recording
) -> None:
    chunks = f"/clips/chunks/{recording.id}"
    assert (await http.get(f"{chunks}/init.mp4")).content == recording.head
    part = await http.get(f"{chunks}/chunk_00001.m4s")
    assert part.content == shelf.film(recording, recording.segments[1])


async def test_a_clip_that_is_not_closed_yet_is_worth_waiting_for(
    http: httpx.AsyncClient, recording: Recording
) -> None:
    for end, seconds in ((6.2, "0"), (7.0, "1"), (60.0, "2")):
        for route in ("/clips", "/clips/file", "/clips/metadata"):
            answer = await http.get(route, params=range_of(recording, 5, end))
            assert (answer.status_code, answer.content) == (202, b""), route
            assert answer.headers["retry-after"] == seconds


async def test_when_the_session_is_over_there_is_what_there_is(
    http: httpx.AsyncClient, shelf: Shelf, recording: Recording, clock: FakeClock
) -> None:
    shelf.end(recording)
    late = await http.get("/clips", params=range_of(recording, 5, 60))
    assert (late.status_code, late.text.count("#EXTINF")) == (200, 1)
    never = await http.get("/clips", params=range_of(recording, 7, 60))
    assert never.status_code == 410
    await clock.advance(300)
    for route in ("/clips", "/clips/file", "/clips/metadata"):
        gone = await http.get(route, params=range_of(recording, 0, 2))
        assert (gone.status_code, "expired" in gone.json()["detail"]) == (410, True)
    assert (await http.get(f"/clips/chunks/{recording.id}/init.mp4")).status_code == 410


async def test_metadata_comes_with_the_times_of_the_file(
    http: httpx.AsyncClient, recording: Recording
) -> None:
    answer = await http.get("/clips/metadata", params=range_of(recording, 2.5, 5.9))
    assert answer.json() == {
        "duration": pytest.approx(4.0),
        "entries": [
            {"time": pytest.approx(second), "track": "main", "value": {"frame": 24 * (second + 2)}}
            for second in range(4)
        ],
    }


@pytest.mark.parametrize(
    ("start", "end"), [(-1, 2), (2, 2), (3, 2), ("nan", 2), (0, "inf"), (0, math.nan)]
)
async def test_a_range_that_is_none_is_refused(
    http: httpx.AsyncClient, recording: Recording, start: object, end: object
) -> None:
    for route in ("/clips", "/clips/file", "/clips/metadata"):
        answer = await http.get(route, params=range_of(recording, start, end))
        assert answer.status_code == 400
        assert answer.json() == {"detail": "a clip starts at 0 or later and ends after its start"}


@pytest.mark.parametrize("missing", ["session_id", "start", "end"])
async def test_a_query_of_another_shape_is_refused(
    http: httpx.AsyncClient, recording: Recording, missing: str
) -> None:
    asked = range_of(recording, 0, 2)
    del asked[missing]
    answer = await http.get("/clips", params=asked)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", missing]
    words = await http.get("/clips", params=range_of(recording, "soon", 2))
    assert words.json()["detail"][0]["loc"] == ["query", "start"]


@pytest.mark.parametrize(
    "name",
    [
        "chunk_00009.m4s",
        "chunk_1.m4s",
        "chunk_00000.json",
        "chunk_00000.mp4",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        ".lock",
        "chunk_00000.m4s%00",
        "chunk_99999999999999999999.m4s",
    ],
)
async def test_only_its_segments_can_be_asked_for(
    http: httpx.AsyncClient, recording: Recording, name: str
) -> None:
    assert (await http.get(f"/clips/chunks/{recording.id}/{name}")).status_code == 404


@pytest.mark.parametrize("unknown", [UNKNOWN, "..", "%2e%2e", "a/b", b"\x00".hex()])
async def test_another_recording_is_gone(
    http: httpx.AsyncClient, recording: Recording, unknown: str
) -> None:
    assert recording.id != unknown
    asked: dict[str, Any] = {"session_id": unknown, "start": 0, "end": 1}
    assert (await http.get("/clips", params=asked)).status_code == 410
    for name in ("init.mp4", "chunk_00000.m4s"):
        assert (await http.get(f"/clips/chunks/{unknown}/{name}")).status_code in (404, 410)


async def test_a_part_of_a_clip_that_never_was_is_refused(
    http: httpx.AsyncClient, recording: Recording
) -> None:
    chunks = f"/clips/chunks/{recording.id}"
    for query in ("first=2&last=2", "first=77", "first=-1"):
        assert (await http.get(f"{chunks}/chunk_00001.m4s?{query}")).status_code == 404
    assert (await http.get(f"{chunks}/init.mp4?first=8&last=9")).status_code == 404
    assert (await http.get(f"{chunks}/chunk_00001.m4s?first=x")).status_code == 422


@pytest.fixture
def vanished(tmp_path: Path, recording: Recording) -> Recording:
    """The recording, one of whose files has been removed by somebody else."""
    next(tmp_path.rglob("chunk_00001.m4s")).unlink()
    return recording


async def test_a_file_that_vanishes_is_not_found(
    http: httpx.AsyncClient, vanished: Recording
) -> None:
    gone = await http.get(f"/clips/chunks/{vanished.id}/chunk_00001.m4s")
    assert gone.status_code == 404


@pytest.fixture
def unreadable(vanished: Recording, tmp_path: Path) -> Recording:
    """The recording, with a folder where one of its files was."""
    next(tmp_path.rglob("chunk_00000.m4s")).with_name("chunk_00001.m4s").mkdir()
    return vanished


async def test_a_file_that_cannot_be_read_is_no_missing_one(
    http: httpx.AsyncClient, unreadable: Recording
) -> None:
    failed = await http.get(f"/clips/chunks/{unreadable.id}/chunk_00001.m4s")
    assert (failed.status_code, failed.json()) == (500, {"detail": "internal error"})


async def test_before_anything_is_recorded_there_is_no_head(
    http: httpx.AsyncClient, shelf: Shelf
) -> None:
    empty = shelf.begin()
    assert (await http.get(f"/clips/chunks/{empty.id}/init.mp4")).status_code == 404
    waits = await http.get("/clips", params=range_of(empty, 0, 1))
    assert waits.status_code == 202


async def test_the_name_of_its_session_finds_a_recording_until_it_goes(
    http: httpx.AsyncClient, shelf: Shelf, recording: Recording, clock: FakeClock
) -> None:
    shelf.name(recording, "take 7")
    shelf.name(recording, UNKNOWN)  # it looks like an id, which opens without a token
    asked: dict[str, Any] = {"session_id": "take 7", "start": 0, "end": 2}
    for route in ("/clips", "/clips/file", "/clips/metadata"):
        assert (await http.get(route, params=asked)).status_code == 200
    by_id = await http.get("/clips/file", params=range_of(recording, 0, 2))
    assert (await http.get("/clips/file", params=asked)).content == by_id.content
    assert (await http.get("/clips", params={**asked, "session_id": UNKNOWN})).status_code == 410
    shelf.end(recording)
    await clock.advance(300)
    shelf.expire()
    assert (await http.get("/clips", params=asked)).status_code == 410


async def test_a_server_that_records_nothing_says_so(loading: httpx.AsyncClient) -> None:
    asked: dict[str, Any] = {"session_id": UNKNOWN, "start": 0, "end": 1}
    for route in ("/clips", "/clips/file", "/clips/metadata", f"/clips/chunks/{UNKNOWN}/init.mp4"):
        answer = await loading.get(route, params=asked)
        assert answer.status_code == 410
        assert answer.json() == {"detail": "no such recording; nothing is recorded here"}


async def test_the_id_is_enough_where_a_token_is_asked_for(
    shelf: Shelf, recording: Recording, connect: ClientOf
) -> None:
    """As for every route, a foreign page may not ask; whoever knows the id needs no token."""
    from reactor_runtime.http.server_settings import ServerSettings
    from reactor_runtime.metrics import Metrics

    stage = Stage(ServerSettings(token="secret"), Metrics())
    stage.recordings = shelf
    async with connect(stage) as http:
        asked = range_of(recording, 0, 2)
        assert (await http.get("/clips", params=asked)).status_code == 200
        assert (await http.get("/session")).status_code == 401
        shelf.name(recording, "take 7")
        named = {**asked, "session_id": "take 7"}
        assert (await http.get("/clips", params=named)).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert (await http.get("/clips", params=named, headers=right)).status_code == 200
        for part in ("init.mp4", "chunk_00000.m4s"):
            by_id, by_name = (f"/clips/chunks/{of}/{part}" for of in (recording.id, "take%207"))
            assert (await http.get(by_id)).status_code == 200
            assert (await http.get(by_name)).status_code == 401
            assert (await http.get(by_name, headers=right)).status_code == 200
        foreign = {"Origin": "https://elsewhere.example"}
        assert (await http.get("/clips", params=asked, headers=foreign)).status_code == 403
