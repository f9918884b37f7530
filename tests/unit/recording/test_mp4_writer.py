"""Files as players see them: ffprobe's word for lengths and rates, decoders for what is in them."""

import io
from pathlib import Path

import numpy as np
import pytest
from tests.unit.recording.material import (
    BRIGHT,
    DARK,
    FPS,
    RATE,
    beep,
    flashes,
    is_loud,
    levels,
    needs_ffprobe,
    offsets,
    picture,
    probe,
)

from reactor_runtime.recording.mp4_writer import AudioCodec, AudioTrack, Mp4Writer, VideoTrack

SIZE = (160, 120)


def write(
    path: Path,
    *,
    seconds: float = 3,
    size: tuple[int, int] = SIZE,
    audio: AudioTrack | None = None,
    late_sound: int = 0,
) -> None:
    """Write a film that flashes and beeps once a second."""
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=VideoTrack(size=size, fps=FPS), audio=audio)
        for frame in range(int(seconds * FPS)):
            level = BRIGHT if is_loud(frame) else DARK
            writer.picture(picture(level, size), frame / FPS, 1 / FPS, key=frame % 48 == 0)
            if audio is not None and frame >= late_sound:
                writer.sound(beep(frame), frame / FPS)
        writer.close()


@needs_ffprobe
@pytest.mark.parametrize("codec", list(AudioCodec))
def test_length_rate_and_sound_are_right(tmp_path: Path, codec: AudioCodec) -> None:
    path = tmp_path / "film.mp4"
    write(path, audio=AudioTrack(codec=codec))
    said = probe(path)
    assert said.start_s == 0
    assert said.duration_s == pytest.approx(3, abs=0.03)
    assert said.fps() == FPS
    assert said.streams["video"]["r_frame_rate"] == "24/1"
    assert said.streams["video"]["codec_name"] == "h264"
    assert said.streams["audio"]["codec_name"] == codec.value
    late = offsets(path)
    assert len(late) == 2
    assert max(map(abs, late)) < 1 / FPS / 4


def test_pictures_alone_make_a_film(tmp_path: Path) -> None:
    write(tmp_path / "film.mp4")
    assert flashes(tmp_path / "film.mp4") == pytest.approx([1, 2], abs=0.001)


@needs_ffprobe
def test_sound_alone_makes_a_film(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=None, audio=AudioTrack())
        for frame in range(3 * FPS):
            writer.sound(beep(frame), frame / FPS)
        writer.close()
    said = probe(path)
    assert list(said.streams) == ["audio"]
    assert said.duration_s == pytest.approx(3, abs=0.03)


@needs_ffprobe
def test_odd_sizes_are_made_even(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    write(path, size=(161, 121), seconds=1)
    said = probe(path).streams["video"]
    assert (said["width"], said["height"]) == (162, 122)
    assert [level for _, level in levels(path)][:FPS:12] == pytest.approx([BRIGHT, DARK], abs=4)


def test_a_gap_in_the_sound_is_silence_and_what_overlaps_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    write(path, audio=AudioTrack(), late_sound=FPS)  # the first second has none
    assert offsets(path) == pytest.approx([0, 0], abs=1 / FPS / 4)
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=VideoTrack(size=SIZE, fps=FPS), audio=AudioTrack())
        for frame in range(2 * FPS):
            writer.picture(picture(BRIGHT if is_loud(frame) else DARK), frame / FPS, 1 / FPS)
            writer.sound(beep(frame), frame / FPS)
            writer.sound(beep(frame), frame / FPS)
        writer.close()
    assert offsets(path) == pytest.approx([0], abs=1 / FPS / 4)


def test_every_picture_has_its_own_time(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    times = [0, 0.04, 0.3, 0.31, 0.31, 1.5]  # two at once: the second an instant later
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=VideoTrack(size=SIZE, fps=FPS), audio=None)
        for at in times:
            writer.picture(picture(DARK), at, 0.5)
        writer.close()
    assert [at for at, _ in levels(path)] == pytest.approx(times, abs=0.001)


def test_a_picture_of_another_size_keeps_its_shape_between_bars(tmp_path: Path) -> None:
    import av

    path = tmp_path / "film.mp4"
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=VideoTrack(size=(160, 120), fps=FPS), audio=None)
        sizes = [(160, 120), (320, 120), (60, 120), (161, 121), (160, 120)]
        for number, size in enumerate(sizes):
            writer.picture(picture(BRIGHT, size), number / FPS, 1 / FPS, key=True)
        writer.close()
    with av.open(str(path)) as film:
        shown = [frame.to_ndarray(format="gray").astype(int) for frame in film.decode(video=0)]
    assert {frame.shape for frame in shown} == {(120, 160)}
    same, wide, tall, odd, again = (frame > 125 for frame in shown)
    assert same.all()
    assert again.all()
    assert odd[2:-2, 2:-2].all()
    assert wide[32:88].all()  # 160 x 60 in the middle
    assert not wide[:26].any()
    assert not wide[94:].any()
    assert tall[:, 54:106].all()  # 60 x 120 in the middle
    assert not tall[:, :46].any()
    assert not tall[:, 114:].any()


def test_the_quality_is_what_was_asked_for() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1, 120, 160, 3), np.uint8)

    def size_at(crf: int) -> int:
        from reactor_runtime.media.picture import PictureMaker

        sink = io.BytesIO()
        track = VideoTrack(size=SIZE, fps=FPS, crf=crf)
        writer = Mp4Writer(sink, video=track, audio=None)
        for frame in range(6):
            writer.picture(PictureMaker().convert(noise)[0], frame / FPS, 1 / FPS)
        writer.close()
        return len(sink.getvalue())

    assert size_at(10) > 2 * size_at(40)


def test_the_bitrate_is_bounded() -> None:
    from reactor_runtime.media.picture import PictureMaker

    random = np.random.default_rng(1)
    sink = io.BytesIO()
    track = VideoTrack(size=(320, 240), fps=FPS, crf=5, max_bitrate=1_000_000)
    writer = Mp4Writer(sink, video=track, audio=None)
    for frame in range(4 * FPS):
        noise = random.integers(0, 255, (1, 240, 320, 3), np.uint8)
        writer.picture(PictureMaker().convert(noise)[0], frame / FPS, 1 / FPS)
    writer.close()
    assert 8 * len(sink.getvalue()) / 4 < 2_000_000


def test_sound_of_any_length_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with path.open("wb") as sink:
        writer = Mp4Writer(sink, video=VideoTrack(size=SIZE, fps=FPS), audio=AudioTrack())
        whole = np.concatenate([beep(frame) for frame in range(2 * FPS)])
        for frame in range(2 * FPS):
            writer.picture(picture(BRIGHT if is_loud(frame) else DARK), frame / FPS, 1 / FPS)
        at, sizes = 0, [1, 7, 960, 1024, 5000, 0, 33]
        while at < len(whole):
            size = sizes[at % len(sizes)]
            writer.sound(whole[at : at + size], at / RATE)
            at += max(size, 1) if size else 0
            sizes.append(sizes.pop(0))
        writer.close()
    assert offsets(path) == pytest.approx([0], abs=1 / FPS / 4)
