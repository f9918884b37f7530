"""What a real muxer writes, cut anywhere, taken apart and put together again."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.recording.material import (
    BRIGHT,
    DARK,
    FPS,
    beep,
    flashes,
    is_loud,
    needs_ffprobe,
    offsets,
    picture,
    probe,
)

from reactor_runtime.recording.fragment_sink import FragmentSink
from reactor_runtime.recording.mp4_boxes import (
    TrackHead,
    boxes,
    make_index,
    read_head,
    shifted,
    span,
)
from reactor_runtime.recording.mp4_writer import AudioTrack, Mp4Writer, VideoTrack

PIECES: list[bytes] = []


class Keeper(FragmentSink):
    """Keeps what was written, piece by piece, too."""

    def write(self, piece: bytes) -> int:
        PIECES.append(bytes(piece))
        return super().write(piece)


@pytest.fixture(scope="module")
def film() -> tuple[bytes, list[bytes]]:
    """Head and fragments of five seconds that flash and beep; a fragment is two seconds."""
    PIECES.clear()
    sink = Keeper()
    writer = Mp4Writer(sink, video=VideoTrack(size=(160, 120), fps=FPS), audio=AudioTrack())
    for frame in range(5 * FPS):
        shown = picture(BRIGHT if is_loud(frame) else DARK)
        writer.picture(shown, frame / FPS, 1 / FPS, key=frame % 48 == 0)
        writer.sound(beep(frame), frame / FPS)
    writer.close()
    return sink.head, sink.take()


def test_the_head_tells_the_tracks(film: tuple[bytes, list[bytes]]) -> None:
    head, fragments = film
    assert [box.kind for box in boxes(head)] == [b"ftyp", b"moov"]
    assert [box.kind for box in boxes(fragments[0])] == [b"moof", b"mdat"]
    assert read_head(head) == [
        TrackHead(track_id=1, timescale=90_000),
        TrackHead(track_id=2, timescale=48_000),
    ]


def test_a_fragment_tells_where_it_lies(film: tuple[bytes, list[bytes]]) -> None:
    head, fragments = film
    pictures, sound = read_head(head)
    assert [span(each, pictures) for each in fragments] == [(0, 2), (2, 4), (4, 5)]
    for each in fragments:
        seen, heard = span(each, pictures), span(each, sound)
        assert seen is not None
        assert heard is not None
        assert heard == pytest.approx(seen, abs=1024 / 48_000)
    assert span(fragments[0], TrackHead(track_id=3, timescale=1)) is None


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(1, 5000), min_size=1, max_size=20))
def test_it_may_be_written_in_pieces_of_any_size(
    film: tuple[bytes, list[bytes]], cuts: list[int]
) -> None:
    head, fragments = film
    sink, written, at, number = FragmentSink(), b"".join(PIECES), 0, 0
    while at < len(written):
        size = cuts[number % len(cuts)]
        assert sink.write(written[at : at + size]) == len(written[at : at + size])
        at, number = at + size, number + 1
    assert (sink.head, sink.take(), sink.take()) == (head, fragments, [])


@needs_ffprobe
def test_the_last_fragments_are_a_film_that_begins_at_zero(
    film: tuple[bytes, list[bytes]], tmp_path: Path
) -> None:
    head, fragments = film
    tracks = read_head(head)
    last = [shifted(each, tracks, 2.0) for each in fragments[1:]]
    path = tmp_path / "film.mp4"
    index = make_index(tracks[0], [(len(last[0]), 2.0), (len(last[1]), 1.0)])
    path.write_bytes(head + index + b"".join(last))
    said = probe(path)
    assert said.start_s == 0
    assert said.duration_s == pytest.approx(3, abs=0.03)
    assert flashes(path) == pytest.approx([1, 2], abs=0.001)
    assert max(map(abs, offsets(path))) < 1 / FPS / 4
    assert len(last[0]) == len(fragments[1])


def test_shifting_back_and_forth_changes_nothing(film: tuple[bytes, list[bytes]]) -> None:
    head, fragments = film
    tracks = read_head(head)
    both = fragments[1] + fragments[2]
    assert shifted(shifted(both, tracks, -7.5), tracks, 7.5) == both
    before = span(shifted(both, tracks, 3.0), tracks[0])
    assert before == (0, 2)  # it may begin at 0, not before


def test_there_is_no_index_of_nothing_or_of_too_much() -> None:
    track = TrackHead(track_id=1, timescale=90_000)
    assert make_index(track, []) == b""
    assert make_index(track, [(1, 1.0)] * 70_000) == b""


def test_nothing_is_made_of_rubbish() -> None:
    for rubbish in (b"", b"\0", b"\0" * 40, b"\xff" * 40, b"\0\0\0\x01moof" + b"\xff" * 8):
        assert list(boxes(rubbish)) == []
