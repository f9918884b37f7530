"""The film of a run: every pixel as it was, at its time."""

import resource
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.limits import limited

from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.media.film import Film
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind


def track(name: str, kind: TrackKind = TrackKind.VIDEO, rate: int | None = None) -> Track:
    return Track(name=name, kind=kind, direction=TrackDirection.OUT, sample_rate=rate)


TRACKS = [track("main"), track("depth"), track("voice", TrackKind.AUDIO, 16_000)]


def chunk(voice: NDArray[np.int16] | None = None, **video: NDArray[np.uint8]) -> Chunk:
    audio = {} if voice is None else {"voice": voice}
    return Chunk(video=video, audio=audio, started_at=0.0, compute_s=0.0)


def pictures(count: int, height: int = 7, width: int = 11) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (count, height, width, 3)).astype(np.uint8)


def decoded(path: Path, **which: Any) -> list[Any]:
    with av.open(str(path)) as film:
        return list(film.decode(**which))


def test_every_pixel_is_kept_at_odd_sizes_and_odd_strides(tmp_path: Path) -> None:
    shown = pictures(4, 14, 22)[:, ::2, ::2]
    with Film(tmp_path / "film.mkv", TRACKS) as film:
        film.write(chunk(main=shown), 10)
        film.write(chunk(main=shown[::-1]), 20)
    frames = decoded(tmp_path / "film.mkv", video=0)
    found = np.stack([frame.to_ndarray(format="rgb24") for frame in frames])
    assert (found == np.concatenate([shown, shown[::-1]])).all()
    times = [0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55]
    assert [frame.time for frame in frames] == pytest.approx(times, abs=0.001)
    assert film.files == (tmp_path / "film.mkv",)


def test_sound_before_the_first_picture_and_a_track_that_begins_late(tmp_path: Path) -> None:
    with Film(tmp_path / "film.mkv", TRACKS) as film:
        film.write(chunk(np.full((1, 1600), 3, np.int16)), 10)
        film.write(chunk(np.full((2, 1600), 4, np.int16), main=pictures(2)), 10)
        film.hold(0.5)
        film.write(chunk(depth=pictures(1)), 10)
    assert film.files == (tmp_path / "film.mkv", tmp_path / "film.depth.mkv")
    assert film.seconds == pytest.approx(0.8)
    sounds = decoded(tmp_path / "film.mkv", audio=0)
    assert [(f.time, f.samples, int(f.to_ndarray()[0, 0])) for f in sounds] == [
        (0.0, 1600, 3),
        (0.1, 1600, 4),
    ]
    times = [frame.time for frame in decoded(tmp_path / "film.mkv", video=0)]
    assert times == pytest.approx([0.1, 0.15], abs=0.001)
    assert decoded(tmp_path / "film.depth.mkv", video=0)[0].time == pytest.approx(0.7, abs=0.001)


def test_a_film_of_sound_alone(tmp_path: Path) -> None:
    with Film(tmp_path / "film.mkv", TRACKS[2:]) as film:
        film.write(chunk(np.arange(1600, dtype=np.int16)[None]), 10)
    (frame,) = decoded(tmp_path / "film.mkv", audio=0)
    assert frame.to_ndarray()[0, ::2].tolist() == list(range(1600))


def test_a_film_keeps_its_size(tmp_path: Path) -> None:
    with Film(tmp_path / "film.mkv", TRACKS) as film:
        film.write(chunk(main=pictures(1, 8, 8)), 10)
        film.write(chunk(main=np.full((1, 16, 16, 3), 90, np.uint8)), 10)
    first, second = decoded(tmp_path / "film.mkv", video=0)
    assert (first.width, second.width) == (8, 8)
    assert second.to_ndarray(format="rgb24").tolist() == np.full((8, 8, 3), 90).tolist()


def test_a_film_that_is_broken_off_says_so(tmp_path: Path) -> None:
    def break_off() -> None:
        with Film(tmp_path / "film.mkv", TRACKS) as film:
            film.write(chunk(main=pictures(1)), 10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert [path.name for path in tmp_path.iterdir()] == ["film.part.mkv"]
    assert len(decoded(tmp_path / "film.part.mkv", video=0)) == 1


def test_a_full_disk_leaves_no_file_open(tmp_path: Path) -> None:
    shown = pictures(80, 240, 320)
    film = Film(tmp_path / "film.mkv", TRACKS)
    small = limited(resource.RLIMIT_FSIZE, 100_000)
    with pytest.raises(OSError, match="too large"), small, film:
        film.write(chunk(main=shown, depth=shown), 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "film.depth.part.mkv",
        "film.part.mkv",
    ]
    open_files = [path.resolve() for path in Path("/proc/self/fd").iterdir()]
    assert not [path for path in open_files if path.parent == tmp_path]


def test_nothing_shown_is_no_file(tmp_path: Path) -> None:
    with Film(tmp_path / "film.mkv", TRACKS) as film:
        film.write(chunk(np.zeros((1, 0), np.int16)), 10)
    assert (film.files, list(tmp_path.iterdir())) == ((), [])
