"""A real stream with a real recorder: what it keeps, and that the stream never notices."""

import asyncio
import json
import math
import os
import statistics
import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.media.material import CLOCK, Viewer, audio, make_chunk, video
from tests.unit.recording.material import (
    BRIGHT,
    DARK,
    FPS,
    beep,
    beeps,
    flashes,
    is_loud,
    levels,
    needs_ffprobe,
    picture,
    probe,
    typical_offset,
)
from tests.waiting import until

from reactor_runtime.errors import ClipRefusedError
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.timeline import Shown
from reactor_runtime.recording.take import Take
from reactor_runtime.session.session_state import SessionState

MakeStudio = Callable[..., Any]
SIZE = (160, 120)


def chunk(frame: int, size: tuple[int, int] = SIZE, **facts: Any) -> Any:
    """One frame of a film that flashes and beeps once a second."""
    level = BRIGHT if is_loud(frame) else DARK
    pixels = np.full((1, size[1], size[0], 3), level, np.uint8)
    return make_chunk({"main": pixels}, {"voice": beep(frame).T}, pinned_fps=FPS, **facts)


def notes_of(studio: Any, recording: Any) -> list[dict[str, Any]]:
    """Return the metadata that was kept."""
    written = [studio.shelf.notes(recording, each) for each in recording.segments]
    return [note for text in written if text for note in json.loads(text)]


async def play(studio: Any, frames: range, size: tuple[int, int] = SIZE) -> None:
    """Put frames as a model does, when there is room."""
    for frame in frames:
        await until(lambda: bool(studio.stream.has_room(1)))
        studio.stream.put(chunk(frame, size))


# --- what is kept ---


@needs_ffprobe
async def test_what_was_shown_is_kept_with_its_times(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio()
    recording = studio.begin()
    await play(studio, range(4 * FPS))
    await studio.end(recording)
    path = studio.write(recording, tmp_path / "film.mp4")
    said = probe(path)
    assert said.start_s == pytest.approx(0, abs=0.001)
    assert said.duration_s == pytest.approx(recording.time.now(0), abs=1 / FPS + 0.001)
    assert said.duration_s > 3.5
    assert len(flashes(path)) >= 2
    assert typical_offset(path) <= 1 / FPS
    numbers = [number for _, number in studio.kept]
    assert numbers == [-1, *range(len(recording.segments))]
    assert {one for one, _ in studio.kept} == {recording.id}


async def test_every_picture_is_kept_at_the_time_viewers_got_it(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio()
    recording = studio.begin()
    viewer = Viewer(studio.stream, "main", Codec.VP8)
    await play(studio, range(2 * FPS))
    await viewer.wait(2 * FPS)
    await studio.end(recording)
    shown = [frame.presented_at - viewer.frames[0].presented_at for frame in viewer.frames]
    kept = [at for at, _ in levels(studio.write(recording, tmp_path / "film.mp4"))]
    assert len(kept) >= 2 * FPS
    for at in shown[: 2 * FPS]:
        assert min(abs(at - other) for other in kept) < 0.001


async def test_segments_follow_each_other_and_end_at_multiples(make_studio: MakeStudio) -> None:
    studio = make_studio()
    recording = studio.begin()
    await play(studio, range(3 * FPS))
    await until(lambda: len(recording.segments) >= 3, 20)
    for before, after in pairwise(recording.segments):
        assert after.start_s == pytest.approx(before.end_s, abs=0.0001)
    for number, segment in enumerate(recording.segments, 1):
        assert number <= segment.end_s + 0.001 < number + 0.5


async def test_nothing_is_recorded_before_somebody_watches(make_studio: MakeStudio) -> None:
    studio = make_studio()
    studio.follow(SessionState.WAITING)
    await play(studio, range(10))
    with pytest.raises(ClipRefusedError, match="no media generated yet"):
        studio.recorder.clip(3.0)
    assert not studio.recorder.is_open


async def test_a_rest_takes_no_time_of_the_recording(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio()
    recording, begun = studio.begin(), CLOCK.now()
    await play(studio, range(30))
    studio.follow(SessionState.ORPHANED)
    rested_at, rests_until = recording.time.now(0), CLOCK.now() + 2.0
    await until(lambda: CLOCK.now() > rests_until)
    assert recording.time.now(CLOCK.now()) == rested_at
    await until(lambda: recording.closed_until_s == pytest.approx(rested_at, abs=0.05))
    studio.follow(SessionState.STREAMING)
    await play(studio, range(30, 60))
    took_s = CLOCK.now() - begun
    await studio.end(recording)
    shown = levels(studio.write(recording, tmp_path / "film.mp4"))
    assert shown[-1][0] < took_s - 1.8
    assert max(b - a for (a, _), (b, _) in pairwise(shown)) < 1.8


async def test_a_still_picture_lasts_as_long_as_it_was_seen(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio(audio_track=None)
    recording = studio.begin()
    await play(studio, range(3))
    await until(lambda: recording.closed_until_s > 3, 20)  # segments close all the same
    await studio.end(recording)
    shown = levels(studio.write(recording, tmp_path / "film.mp4"))
    assert shown[-1][0] > 2.9
    assert all(level > 125 for _, level in shown)


@needs_ffprobe
async def test_sound_alone_is_recorded_from_its_first_sample(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio(audio(), video_track=None)
    recording = studio.begin()

    def heard(frame: int) -> Any:
        return make_chunk(audio={"voice": beep(frame).T}, pinned_fps=FPS)

    for frame in range(12, 3 * FPS):  # half a second of silence first
        await until(lambda: bool(studio.stream.has_room(1)))
        studio.stream.put(heard(frame))
    await until(lambda: len(recording.segments) >= 1, 20)
    await studio.end(recording)
    said = probe(studio.write(recording, tmp_path / "film.mp4"))
    assert list(said.streams) == ["audio"]
    assert said.duration_s > 1.5


async def test_metadata_lies_beside_the_pictures(make_studio: MakeStudio) -> None:
    studio = make_studio(audio_track=None)
    recording = studio.begin()
    viewer = Viewer(studio.stream, "main", Codec.VP8)
    for frame in range(10):
        await until(lambda: bool(studio.stream.has_room(1)))
        studio.stream.put(chunk(frame, metadata={"main": ({"frame": frame},)}))
    await viewer.wait(10)
    await studio.end(recording)
    notes = notes_of(studio, recording)
    assert [note["value"]["frame"] for note in notes] == list(range(10))
    times = [note["time"] for note in notes]
    assert times == sorted(times)


async def test_metadata_of_sound_lies_at_the_time_of_its_picture(make_studio: MakeStudio) -> None:
    studio = make_studio()
    recording = studio.begin()
    for frame in range(2 * FPS):
        await until(lambda: bool(studio.stream.has_room(1)))
        studio.stream.put(chunk(frame, metadata={"main": (frame,), "voice": (frame,)}))
    figures = studio.stream.stats
    await until(lambda: figures()["tracks"]["voice"].get("metadata") == str(2 * FPS - 1))
    await studio.end(recording)
    times: dict[str, dict[int, float]] = {"main": {}, "voice": {}}
    for note in notes_of(studio, recording):
        times[note["track"]][note["value"]] = note["time"]
    both = times["main"].keys() & times["voice"].keys()
    assert len(both) > FPS
    apart = [abs(times["main"][frame] - times["voice"][frame]) for frame in both]
    assert statistics.median(apart) < 1 / FPS


async def test_what_is_said_stays_in_its_session(make_studio: MakeStudio) -> None:
    studio = make_studio()
    figures, count = studio.stream.stats, FPS // 2
    for number, name in enumerate(("first", "second")):
        recording = studio.begin()
        for frame in range(count):
            await until(lambda: bool(studio.stream.has_room(1)))
            studio.stream.put(chunk(frame, metadata={"voice": (name,)}))
        shown = number * count + count // 2
        await until(partial(lambda least: figures()["tracks"]["main"]["frames"] >= least, shown))
        await studio.end(recording)
        studio.stream.reset()
        studio.follow(SessionState.READY)
        assert {note["value"] for note in notes_of(studio, recording)} == {name}


async def test_every_session_has_a_recording_of_its_own(make_studio: MakeStudio) -> None:
    studio = make_studio()
    first = studio.begin()
    await play(studio, range(10))
    await studio.end(first)
    studio.follow(SessionState.READY)
    second = studio.begin()
    assert second.id != first.id
    assert studio.shelf.find(first.id) is first
    await play(studio, range(10))
    await studio.end(second)
    assert second.segments
    assert studio.shelf.find(second.id) is second


# --- what is promised ---


async def test_a_clip_is_the_last_seconds_and_a_recording_all_of_them(
    make_studio: MakeStudio,
) -> None:
    studio = make_studio(clip_max_s=0.5)
    recording = studio.begin()
    await play(studio, range(2 * FPS))
    snap, whole = studio.recorder.clip(0.25), studio.recorder.clip(None)
    assert (snap.kind, whole.kind) == ("snap", "recording")
    assert snap.recording_id == whole.recording_id == recording.id
    assert snap.end_marker - snap.start_marker == pytest.approx(0.25, abs=0.002)
    assert (whole.start_marker, whole.end_marker) == (0.0, whole.now_marker)
    longest = studio.recorder.clip(60.0)
    assert longest.end_marker - longest.start_marker == pytest.approx(0.5, abs=0.002)
    url = f"/clips?session_id={recording.id}&start={snap.start_marker:.3f}"
    assert snap.playlist_url == f"{url}&end={snap.end_marker:.3f}"
    ready_in_s = snap.predicted_ready_at_ms / 1000 - CLOCK.wall()
    assert 0 < ready_in_s < 1.2
    await until(lambda: recording.is_closed_until(snap.end_marker), ready_in_s + 10)


async def test_without_a_session_there_is_no_clip(make_studio: MakeStudio) -> None:
    studio = make_studio()
    with pytest.raises(ClipRefusedError, match="recorder disabled"):
        studio.recorder.clip(None)


@pytest.mark.parametrize("duration_s", [0.0, -1.0, math.nan, math.inf])
async def test_a_clip_has_a_length(make_studio: MakeStudio, duration_s: float) -> None:
    studio = make_studio()
    recording = studio.begin()
    await play(studio, range(3))
    await until(lambda: recording.time.has_begun)
    with pytest.raises(ClipRefusedError, match="more than 0 seconds"):
        studio.recorder.clip(duration_s)


# --- what goes wrong, for the recording alone ---


class BreaksDown(Take):
    """A take whose encoder raises at a picture; ``left`` counts down over all of them."""

    left: list[int]

    def picture(self, *args: Any) -> None:
        self.left[0] -= 1
        if self.left[0] == 0:
            raise ValueError("the encoder has crashed")
        super().picture(*args)


async def stream_is_whole(studio: Any, frames: int) -> None:
    """Play so many frames before a viewer, who gets every one of them."""
    viewer = Viewer(studio.stream, "main", Codec.VP8)
    await play(studio, range(frames))
    await viewer.wait(frames)
    numbers = [frame.number for frame in viewer.frames]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert studio.stream.stats()["tracks"]["main"]["dropped"] == 0


async def test_an_encoder_that_crashes_once_is_replaced(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    BreaksDown.left = [40]
    studio = make_studio(open_take=BreaksDown)
    recording = studio.begin()
    await stream_is_whole(studio, 4 * FPS)
    assert studio.losses("encoder_failed") == 1
    await until(lambda: recording.closed_until_s > 3, 20)
    assert not recording.is_broken
    assert studio.recorder.clip(0.5).kind == "snap"
    await studio.end(recording)
    shown = [at for at, _ in levels(studio.write(recording, tmp_path / "film.mp4"))]
    assert shown[0] < 0.1
    assert max(b - a for a, b in pairwise(shown)) < 5  # one second, and the machine's delays


async def test_an_encoder_that_always_crashes_is_given_up(make_studio: MakeStudio) -> None:
    class NeverWorks(Take):
        def picture(self, *args: Any) -> None:
            raise ValueError("the encoder has crashed")

    studio = make_studio(open_take=NeverWorks)
    recording = studio.begin()
    await stream_is_whole(studio, 4 * FPS)
    await until(lambda: recording.is_broken, 20)
    assert studio.losses("encoder_failed") == 3
    assert not studio.recorder.is_open  # nothing is done for it any more
    with pytest.raises(ClipRefusedError, match="encoder crashed"):
        studio.recorder.clip(1.0)
    await studio.end(recording)
    again = studio.begin()
    assert not again.is_broken
    assert studio.recorder.is_open


async def test_a_disk_that_takes_nothing_costs_only_the_recording(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio()
    recording = studio.begin()
    (studio.folder / recording.id).write_text("in the way of its folder")
    await stream_is_whole(studio, 3 * FPS)
    await until(lambda: studio.losses("segment_not_stored") >= 2, 20)
    assert recording.segments == ()
    with pytest.raises(ClipRefusedError, match="cannot be stored: "):
        studio.recorder.clip(1.0)
    (studio.folder / recording.id).unlink()
    await until(lambda: len(recording.segments) > 0, 20)
    assert studio.recorder.clip(0.5).kind == "snap"


async def test_an_encoder_that_hangs_costs_only_the_recording(make_studio: MakeStudio) -> None:
    goes_on = threading.Event()

    class Hangs(Take):
        def picture(self, *args: Any) -> None:
            goes_on.wait(60)
            super().picture(*args)

    studio = make_studio(open_take=Hangs, max_queued_bytes=10 * SIZE[0] * SIZE[1] * 3 // 2)
    recording = studio.begin()
    await stream_is_whole(studio, 2 * FPS)
    assert studio.losses("picture_behind") > 10
    goes_on.set()
    await studio.end(recording)
    assert recording.segments


@needs_ffprobe
async def test_a_size_that_changes_in_mid_stream_leaves_one_film(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    studio = make_studio()
    recording = studio.begin()
    viewer = Viewer(studio.stream, "main", Codec.VP8)
    await play(studio, range(20))
    await play(studio, range(20, 40), (320, 180))
    await play(studio, range(40, 60), (99, 201))
    await viewer.wait(60)
    await studio.end(recording)
    assert studio.losses("encoder_failed") == 0
    said = probe(studio.write(recording, tmp_path / "film.mp4"))
    assert (said.streams["video"]["width"], said.streams["video"]["height"]) == SIZE
    assert said.duration_s == pytest.approx(recording.time.now(0), abs=1 / FPS + 0.001)


async def test_past_the_size_the_beginning_goes(make_studio: MakeStudio) -> None:
    studio = make_studio(max_bytes=200_000)
    recording = studio.begin()
    random = np.random.default_rng(1)
    async with asyncio.timeout(60):
        while not recording.segments or recording.segments[0].number == 0:
            await until(lambda: bool(studio.stream.has_room(1)))
            noise = random.integers(0, 255, (1, 60, 80, 3), np.uint8)
            studio.stream.put(make_chunk({"main": noise}, pinned_fps=FPS))
    assert sum(each.size_bytes for each in recording.segments) <= 200_000
    whole = studio.recorder.clip(None)
    assert whole.start_marker == pytest.approx(recording.offered[0].start_s, abs=0.001)


async def test_sound_that_is_there_before_its_picture_is_kept(
    make_studio: MakeStudio, tmp_path: Path
) -> None:
    """The pictures' thread may be slower at the start than that of the sound."""
    studio = make_studio()
    recording, now = studio.begin(), CLOCK.now()
    tone = np.concatenate([beep(frame) for frame in range(FPS)])
    for packet in range(40):
        samples = tone[packet * 960 : (packet + 1) * 960]
        studio.recorder.sound(now + packet * 0.02, samples)
    first = Shown(picture=picture(BRIGHT), time=now, length_s=0.04, late_s=0.0)
    studio.recorder.picture(first)
    await until(lambda: recording.time.now(CLOCK.now()) > 0.9)
    await studio.end(recording)
    heard = beeps(studio.write(recording, tmp_path / "film.mp4"))
    assert heard[0] < 0.03


@pytest.mark.parametrize(("rate", "size"), [(16_000, 441), (44_100, 1000), (8_000, 1)])
async def test_sound_of_any_rate_in_chunks_of_any_length_stays_with_its_picture(
    make_studio: MakeStudio, tmp_path: Path, rate: int, size: int
) -> None:
    studio = make_studio(video(), audio(rate=rate))
    recording = studio.begin()
    for second in range(3):
        at = np.arange(rate)
        is_loud = at < rate // 4
        wave = (20_000 * np.sin(2 * np.pi * 1000 * at / rate) * is_loud).astype(np.int16)[None]
        level = BRIGHT if second % 2 else DARK
        pixels = np.full((FPS, *SIZE[::-1], 3), level, np.uint8)
        await until(lambda: bool(studio.stream.has_room(FPS)))
        if second == 1:  # in many chunks, of which the first has the pictures
            first, rest = wave[:, : rate - 5 * size], wave[:, rate - 5 * size :]
            studio.stream.put(make_chunk({"main": pixels}, {"voice": first}, pinned_fps=None))
            for start in range(0, rest.shape[1], size):
                piece = rest[:, start : start + size]
                studio.stream.put(make_chunk(audio={"voice": piece}, pinned_fps=None))
        else:
            studio.stream.put(make_chunk({"main": pixels}, {"voice": wave}, pinned_fps=None))
    await until(lambda: recording.time.now(CLOCK.now()) > 2.9, 20)
    await studio.end(recording)
    path = studio.write(recording, tmp_path / "film.mp4")
    assert len(flashes(path)) == 1
    assert typical_offset(path) <= 1 / FPS


async def test_many_sessions_leave_nothing_open(make_studio: MakeStudio) -> None:
    studio = make_studio()

    async def one_session(frames: int) -> None:
        recording = studio.begin()
        await play(studio, range(frames))
        await until(lambda: recording.time.has_begun)
        await studio.end(recording)
        studio.follow(SessionState.READY)

    await one_session(12)
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(15):
        await one_session(3)
    after = len(os.listdir("/proc/self/fd")), threading.active_count()
    assert after[0] <= before[0]
    assert after[1] <= before[1]
