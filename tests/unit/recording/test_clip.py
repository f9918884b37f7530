"""Clips: the playlist by its text, the parts and the whole byte for byte."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.recording.material import (
    FPS,
    flashes,
    needs_ffprobe,
    offsets,
    open_shelf,
    probe,
    record,
)

from reactor_runtime.recording.clip import Clip, part
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_shelf(tmp_path / "shelf") as shelf:
        yield shelf


def cut(recording: Recording, start_s: float, end_s: float) -> Clip:
    return Clip(recording=recording, segments=recording.between(start_s, end_s))


def whole(shelf: Shelf, clip: Clip) -> bytes:
    return clip.head() + b"".join(clip.part(shelf, each) for each in clip.segments)


def test_the_playlist_is_what_clients_expect(shelf: Shelf) -> None:
    recording = record(shelf, 7.0)
    chunks = f"/clips/chunks/{recording.id}"
    assert cut(recording, 2.5, 6.5).playlist().splitlines() == [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        "#EXT-X-TARGETDURATION:2",
        "#EXT-X-PLAYLIST-TYPE:VOD",
        f'#EXT-X-MAP:URI="{chunks}/init.mp4?first=1&last=3"',
        "#EXTINF:2.000,",
        f"{chunks}/chunk_00001.m4s?first=1&last=3",
        "#EXTINF:2.000,",
        f"{chunks}/chunk_00002.m4s?first=1&last=3",
        "#EXTINF:1.000,",
        f"{chunks}/chunk_00003.m4s?first=1&last=3",
        "#EXT-X-ENDLIST",
    ]


@pytest.mark.parametrize(
    ("start_s", "end_s", "numbers"),
    [
        (0, 8, [0, 1, 2, 3]),
        (0, 0.001, []),
        (0, 2, [0]),
        (1.9999, 2.0001, []),
        (2, 4, [1]),
        (3.9, 4.1, [1, 2]),
        (7.5, 99, [3]),
        (8, 99, []),
    ],
)
def test_a_clip_is_the_segments_it_touches(
    shelf: Shelf, start_s: float, end_s: float, numbers: list[int]
) -> None:
    recording = shelf.begin()
    for number in range(4):
        shelf.store(recording, (2.0 * number, 2.0 * number + 2), b"f", b"")
    assert [each.number for each in recording.between(start_s, end_s)] == numbers


@needs_ffprobe
@pytest.mark.parametrize(("start_s", "seconds"), [(0.0, 7.0), (2.0, 5.0), (6.5, 1.0)])
def test_a_clip_is_a_film_of_its_length(
    shelf: Shelf, tmp_path: Path, start_s: float, seconds: float
) -> None:
    clip = cut(record(shelf, 7.0), start_s, 7.0)
    path = tmp_path / "clip.mp4"
    path.write_bytes(whole(shelf, clip))
    said = probe(path)
    assert said.start_s == pytest.approx(0, abs=0.001)
    assert said.duration_s == pytest.approx(seconds, abs=1 / FPS)
    assert said.fps() == pytest.approx(FPS, abs=0.01)
    assert clip.duration_s == pytest.approx(seconds, abs=0.001)
    assert len(flashes(path)) == max(0, int(seconds) - 1)
    if flashes(path):
        assert max(map(abs, offsets(path))) < 1 / FPS / 4


@needs_ffprobe
def test_stretches_with_rests_between_make_one_film(shelf: Shelf, tmp_path: Path) -> None:
    recording = record(shelf, 3.0, 0.5, 2.5)
    lengths = [(s.start_s, s.end_s) for s in recording.segments]
    assert lengths == [pytest.approx(span) for span in ((0, 2), (2, 3), (3, 3.5), (3.5, 4), (4, 6))]
    clip = cut(recording, 0, 6)
    path = tmp_path / "clip.mp4"
    path.write_bytes(whole(shelf, clip))
    said = probe(path)
    assert said.duration_s == pytest.approx(6, abs=1 / FPS)
    assert said.fps() == pytest.approx(FPS, abs=0.05)
    assert flashes(path) == pytest.approx([1, 2, 3, 4, 5], abs=0.002)
    assert max(map(abs, offsets(path))) < 1 / FPS / 2
    assert "#EXTINF:0.500," in clip.playlist()


def test_the_film_plays_through_where_a_segment_was_lost(shelf: Shelf, tmp_path: Path) -> None:
    recording = record(shelf, 8.0)
    recording.segments = (*recording.segments[:1], *recording.segments[2:])
    clip = cut(recording, 0, 8)
    assert re.findall(r"#EXTINF:([\d.]+)", clip.playlist()) == ["4.000", "2.000", "2.000"]
    path = tmp_path / "clip.mp4"
    path.write_bytes(whole(shelf, clip))
    assert flashes(path) == pytest.approx([1, 4, 5, 6, 7], abs=0.002)
    assert max(map(abs, offsets(path))) < 1 / FPS / 2  # a segment's sound begins with a packet


def test_what_is_about_to_go_is_not_offered_any_more(shelf: Shelf) -> None:
    recording = shelf.begin()
    for number in range(40):
        shelf.store(recording, (2.0 * number, 2.0 * number + 2), b"f", b"")
    assert [s.number for s in recording.offered] == list(range(40))
    recording.drop_first()
    assert [s.number for s in recording.offered] == list(range(4, 40))
    assert recording.segment(1) is not None  # whoever was told of it may fetch it
    for _ in range(38):
        recording.drop_first()
    assert [s.number for s in recording.offered] == [39]
    recording.drop_first()
    assert list(recording.offered) == []


def test_metadata_keeps_the_time_of_its_picture(shelf: Shelf) -> None:
    clip = cut(record(shelf, 5.0), 2.0, 5.0)
    assert clip.notes(shelf) == [
        {"time": pytest.approx(0.0), "track": "main", "value": {"frame": 48}},
        {"time": pytest.approx(1.0), "track": "main", "value": {"frame": 72}},
        {"time": pytest.approx(2.0), "track": "main", "value": {"frame": 96}},
    ]


def test_a_segment_alone_keeps_its_own_time(shelf: Shelf, tmp_path: Path) -> None:
    recording = record(shelf, 4.0)
    path = tmp_path / "clip.mp4"
    path.write_bytes(recording.head + part(shelf, recording, recording.segments[1], 0.0))
    assert flashes(path) == pytest.approx([3.0], abs=0.001)
