"""The stream with its threads, real encoders and viewers that decode."""

import asyncio
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.e2e.strain import strain
from tests.unit.media.material import CLOCK, Viewer, audio, make_chunk, plain, video
from tests.waiting import until

from reactor_runtime.errors import TrackError
from reactor_runtime.media import picture
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.picture import make_black
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.media.shrinker import Shrinker
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind

MakeStream = Callable[..., LiveStream]
RED, GREEN, BLUE = (200, 30, 30), (30, 200, 30), (30, 30, 200)


def is_past(when: float) -> bool:
    return CLOCK.now() > when


def close_to(seen: tuple[int, int, int], wanted: tuple[int, int, int], by: int = 25) -> bool:
    return all(abs(a - b) <= by for a, b in zip(seen, wanted, strict=True))


def assert_even(frames: list[EncodedFrame], ticks: int) -> None:
    """The frames are *ticks* apart; a busy machine may stretch a few gaps, nothing shrinks one."""
    gaps = sorted(b.timestamp - a.timestamp for a, b in itertools.pairwise(frames))
    assert gaps[0] >= ticks - 1
    assert gaps[int(0.75 * len(gaps) / strain())] <= ticks + 1


@contextmanager
def model(
    stream: LiveStream, draw: Callable[[int], Any], *, step_s: float, fps: float | None
) -> Iterator[list[float]]:
    """Run a model on a thread of its own as a host does; yield the times its steps began."""
    stopped, room, began = threading.Event(), threading.Event(), list[float]()
    stream.on_room(room.set)

    def live() -> None:
        frames = 1
        while not stopped.is_set():
            at = stream.step_at(frames)
            if at is not None and stopped.wait(max(0.0, at - CLOCK.now())):
                return
            started = CLOCK.now()
            began.append(started)
            time.sleep(step_s)
            picture = draw(len(began))
            frames = len(picture)
            spent = CLOCK.now() - started
            while not stream.has_room(frames) and not stopped.is_set():
                room.wait(0.2)
                room.clear()
            stream.put(
                make_chunk({"main": picture}, started_at=started, compute_s=spent, pinned_fps=fps)
            )

    thread = threading.Thread(target=live)
    thread.start()
    try:
        yield began
    finally:
        stopped.set()
        room.set()
        thread.join(5)


@pytest.mark.parametrize("codec", [Codec.VP8, Codec.H264])
async def test_a_viewer_sees_what_was_put(make_stream: MakeStream, codec: Codec) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", codec)
    for colour in (RED, GREEN, BLUE):
        stream.put(make_chunk({"main": plain(colour)}))
    await viewer.wait(3)
    assert [close_to(a, b) for a, b in zip(viewer.colours(), (RED, GREEN, BLUE), strict=True)]
    assert viewer.keys == 1


async def test_the_author_may_overwrite_the_array_at_once(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    picture = plain(RED)
    for colour in (RED, GREEN, BLUE):
        picture[:] = colour
        stream.put(make_chunk({"main": picture}))
        picture[:] = 255
    await viewer.wait(3)
    for seen, wanted in zip(viewer.colours(), (RED, GREEN, BLUE), strict=True):
        assert close_to(seen, wanted)


async def test_what_is_not_wanted_any_more_is_not_queued(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED)}), lambda: False)
    assert stream.stats()["queue"] == 0
    stream.put(make_chunk({"main": plain(GREEN)}), lambda: True)
    await viewer.wait(1)
    assert close_to(viewer.colours()[0], GREEN)


@pytest.mark.parametrize("codec", [Codec.VP8, Codec.H264])
async def test_odd_sizes_and_new_sizes_in_mid_stream(make_stream: MakeStream, codec: Codec) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", codec)
    for size in ((65, 47), (65, 47), (33, 21), (128, 64)):
        stream.put(make_chunk({"main": plain(GREEN, size=size)}))
    await viewer.wait(4)
    even = 2 if codec is Codec.H264 else 1
    sizes = [each.shape[:2] for each in viewer.pictures()]
    wanted = [(47, 65), (47, 65), (21, 33), (64, 128)]
    assert sizes == [(-(-h // even) * even, -(-w // even) * even) for h, w in wanted]
    assert [each.is_key for each in viewer.frames] == [True, False, True, True]
    assert all(close_to(each, GREEN) for each in viewer.colours())


async def test_metadata_travels_with_its_frame(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=3)}, metadata={"main": ("a", None, {"b": 1})}))
    frames = await viewer.wait(3)
    assert [each.metadata for each in frames] == ["a", None, {"b": 1}]


async def test_the_frames_of_a_chunk_leave_evenly(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    for _ in range(2):
        stream.put(make_chunk({"main": plain(RED, frames=12)}, pinned_fps=24.0))
    frames = await viewer.wait(24)
    assert_even(frames, 3750)
    late_s = [at - each.presented_at for at, each in zip(viewer.arrived, frames, strict=True)]
    assert 0 <= min(late_s) < strain() / 24  # never early; the rest is for the benchmark


async def test_one_encoder_serves_every_viewer(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewers = [Viewer(stream, "main", Codec.VP8) for _ in range(5)]
    stream.put(make_chunk({"main": plain(RED, frames=4)}))
    for viewer in viewers:
        await viewer.wait(4)
        assert all(a is b for a, b in zip(viewer.frames, viewers[0].frames, strict=True))
    assert stream.stats()["tracks"]["main"]["codecs"]["VP8"]["frames"] == 4
    assert stream.stats()["tracks"]["main"]["viewers"] == 5


async def test_a_join_gets_the_last_picture_at_once_without_a_tick(make_stream: MakeStream) -> None:
    stream = make_stream()
    first = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(BLUE)}, pinned_fps=1.0))
    await first.wait(1)
    late = Viewer(stream, "main", Codec.VP8)
    joined = CLOCK.now()
    (frame, *_) = await late.wait(1)
    assert frame.is_key
    assert frame.timestamp > first.frames[0].timestamp
    assert frame.presented_at - joined < 0.2 * strain()
    assert close_to(late.colours()[0], BLUE)


async def test_nothing_is_encoded_without_a_viewer_and_time_goes_on(
    make_stream: MakeStream,
) -> None:
    stream = make_stream()
    with model(stream, lambda _: plain(RED), step_s=0.001, fps=50) as began:
        await until(lambda: len(began) > 25)
        assert stream.stats()["tracks"]["main"]["codecs"]["VP8"]["frames"] == 0
        assert stream.stats()["queue"] <= 2


async def test_a_flush_cuts_to_black_and_drops_what_is_queued(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=50)}))
    await viewer.wait(2)
    await asyncio.sleep(0)  # the loop may be behind
    stream.flush()
    flushed = len(viewer.frames)
    stream.put(make_chunk({"main": plain(GREEN, frames=2)}))
    await until(lambda: close_to(viewer.colours()[-1], GREEN, 60))
    colours = viewer.colours()
    first_green = next(i for i, each in enumerate(colours) if close_to(each, GREEN, 60))
    assert first_green <= flushed + 2
    assert close_to(colours[first_green - 1], (0, 0, 0))
    assert [f.timestamp for f in viewer.frames] == sorted({f.timestamp for f in viewer.frames})


async def test_a_flush_makes_room(make_stream: MakeStream) -> None:
    stream, told = make_stream(), threading.Event()
    stream.on_room(told.set)
    stream.put(make_chunk({"main": plain(RED, frames=50)}))
    assert not stream.has_room(1)
    stream.flush()
    assert told.is_set()
    assert stream.has_room(1)


async def test_a_new_session_begins_with_nothing(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=50)}))
    await viewer.wait(1)
    stream.reset()
    seen = len(viewer.frames) + 1
    other = Viewer(stream, "main", Codec.H264)
    stream.put(make_chunk({"main": plain(GREEN)}))
    await other.wait(1)
    assert close_to(other.colours()[0], GREEN)
    assert len(viewer.frames) <= seen + 1


async def test_a_new_rate_applies_to_what_is_queued(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=20)}, pinned_fps=1.0))
    await viewer.wait(1)
    stream.set_fps(50)
    frames = await viewer.wait(20)
    assert_even(frames[1:], 1800)


async def test_the_rate_is_measured_when_nothing_pins_it(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    for _ in range(6):
        stream.put(make_chunk({"main": plain(RED, frames=2)}, compute_s=0.1, pinned_fps=None))
    frames = await viewer.wait(12)
    assert_even(frames, 4500)


async def test_a_fast_model_keeps_its_rate_and_shows_a_change_within_two_frames(
    make_stream: MakeStream,
) -> None:
    stream, colour = make_stream(), [RED]
    viewer = Viewer(stream, "main", Codec.VP8)
    with model(stream, lambda _: plain(colour[0]), step_s=0.001, fps=15) as began:
        await viewer.wait(30)
        steps, seconds = len(began) - 10, began[-1] - began[9]
        assert 13.5 / strain() < steps / seconds < 16.5
        colour[0], flipped = BLUE, CLOCK.now()
        await until(partial(is_past, flipped + 0.3 * strain()), 60)
    changed = next(i for i, each in enumerate(viewer.colours()) if close_to(each, BLUE, 60))
    shown_since = sum(flipped < arrived <= viewer.arrived[changed] for arrived in viewer.arrived)
    assert shown_since <= 2 * strain()


async def test_a_change_shows_within_one_chunk(make_stream: MakeStream) -> None:
    stream, colour = make_stream(), [RED]
    viewer = Viewer(stream, "main", Codec.VP8)
    with model(stream, lambda _: plain(colour[0], frames=12), step_s=0.02, fps=48):
        await viewer.wait(40)
        colour[0], flipped = BLUE, CLOCK.now()
        await until(partial(is_past, flipped + 0.8 * strain()), 60)
    changed = next(i for i, each in enumerate(viewer.colours()) if close_to(each, BLUE, 60))
    assert viewer.arrived[changed] - flipped < 12 / 48 + 0.1 * strain()
    gaps = {b.timestamp - a.timestamp for a, b in itertools.pairwise(viewer.frames)}
    assert min(gaps) >= 1874


async def test_a_fast_model_on_a_slow_track_is_fresh_and_in_order(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)

    def counter(step: int) -> Any:
        return plain((step % 200, step % 200, step % 200))

    with model(stream, counter, step_s=1 / 60, fps=10) as began:
        frames = await viewer.wait(12)
        ages = [at - began[each.number] for at, each in zip(viewer.arrived, frames, strict=True)]
    assert sorted(ages)[len(ages) // 2] < 0.1 * strain()
    assert max(ages[2:]) < 0.2 * strain()
    assert [each.number for each in frames] == sorted(each.number for each in frames)


async def test_a_stalled_event_loop_costs_frames_not_the_stream(make_stream: MakeStream) -> None:
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    with model(stream, lambda _: plain(RED), step_s=0.001, fps=50):
        await viewer.wait(5)
        before = len(viewer.frames)
        time.sleep(0.5 * strain())  # noqa: ASYNC251 - the stall is the test
        await asyncio.sleep(0)
        assert len(viewer.frames) - before <= 9
        await viewer.wait(before + 20)
    assert stream.stats()["tracks"]["main"]["dropped"] > 5
    assert viewer.keys == 1
    assert len(viewer.pictures()) == len(viewer.frames)


async def test_tracks_do_not_wait_for_each_other(make_stream: MakeStream) -> None:
    stream = make_stream(video("main"), video("depth"))
    main, depth = Viewer(stream, "main", Codec.VP8), Viewer(stream, "depth", Codec.H264)
    chunk = {"main": plain(RED, frames=6), "depth": plain(BLUE, frames=3, size=(32, 32))}
    stream.put(make_chunk(chunk, pinned_fps=30.0))
    await main.wait(6)
    await depth.wait(3)
    apart = [b.timestamp - a.timestamp for a, b in zip(main.frames[::2], depth.frames, strict=True)]
    assert max(apart, key=abs) in range(-3000, 3001)


async def test_limits_on_size_are_kept(make_stream: MakeStream) -> None:
    stream = make_stream(max_width=64, max_height=64)
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, size=(256, 128))}))
    await viewer.wait(1)
    assert viewer.pictures()[0].shape == (32, 64, 3)


async def test_unknown_tracks_and_codecs_are_refused(make_stream: MakeStream) -> None:
    camera = Track(name="camera", kind=TrackKind.VIDEO, direction=TrackDirection.IN)
    stream = make_stream(video(), audio(), camera)
    for track, codec in (("other", Codec.VP8), ("camera", Codec.VP8), ("main", Codec.OPUS)):
        with pytest.raises(TrackError, match=track):
            stream.subscribe(Rendition(track, codec), lambda _: None)
    with pytest.raises(TrackError, match="cannot carry it"):
        stream.subscribe(Rendition("voice", Codec.H264), lambda _: None)


async def test_figures_reach_stats_and_metrics() -> None:
    metrics = Metrics()
    stream = LiveStream([video()], settings=MediaSettings(), clock=CLOCK, metrics=metrics)
    stream.start(asyncio.get_running_loop())
    viewer = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=5)}))
    await viewer.wait(5)
    shown, text = stream.stats(), metrics.render().decode()
    stream.stop()
    assert shown["pacing_fps"] == 25
    assert shown["tracks"]["main"]["frames"] == 5
    assert shown["tracks"]["main"]["codecs"]["VP8"]["key_frames"] == 1
    assert 'reactor_frames_emitted_total{track="main"} 5.0' in text
    assert 'reactor_key_frames_total{codec="VP8",rung="top",track="main"} 1.0' in text


async def test_the_rate_in_the_metrics_and_stats_is_of_what_is_shown() -> None:
    metrics = Metrics()
    stream = LiveStream([video()], settings=MediaSettings(), clock=CLOCK, metrics=metrics)

    def rate() -> float:
        (line,) = re.findall(r"^reactor_stream_fps (.+)$", metrics.render().decode(), re.MULTILINE)
        return float(line)

    stream.start(asyncio.get_running_loop())
    assert rate() == stream.stats()["fps"] == 0 < stream.stats()["pacing_fps"]
    stream.put(make_chunk({"main": plain(RED, frames=5)}))
    await until(lambda: rate() > 0 and stream.stats()["fps"] > 0)
    stream.reset()
    await until(lambda: rate() == stream.stats()["fps"] == 0)
    stream.stop()


async def test_stats_tell_the_newest_metadata_that_was_shown(make_stream: MakeStream) -> None:
    stream = make_stream(video(), video("depth"))
    assert "metadata" not in stream.stats()["tracks"]["main"]
    pictures = {"main": plain(RED, frames=3), "depth": plain(RED, frames=3)}
    told = {"main": ({"number": 0}, None, {"number": 2})}
    stream.put(make_chunk(pictures, metadata=told, pinned_fps=2.0))
    await until(lambda: "metadata" in stream.stats()["tracks"]["main"])
    seen = stream.stats()
    assert seen["queue"] > 0
    assert seen["tracks"]["main"]["metadata"] == '{"number": 0}'  # the queued one is not shown yet
    assert "metadata" not in seen["tracks"]["depth"]
    await until(lambda: stream.stats()["tracks"]["main"]["frames"] == 3)
    assert stream.stats()["tracks"]["main"]["metadata"] == '{"number": 2}'


@pytest.mark.parametrize("forget", [LiveStream.flush, LiveStream.reset])
async def test_metadata_goes_with_what_was_shown(
    make_stream: MakeStream, forget: Callable[[LiveStream], None]
) -> None:
    stream = make_stream()
    stream.put(make_chunk({"main": plain(RED)}, metadata={"main": ("seen",)}))
    await until(lambda: "metadata" in stream.stats()["tracks"]["main"])
    forget(stream)
    await until(lambda: "metadata" not in stream.stats()["tracks"]["main"])


@pytest.mark.parametrize("is_heard", [True, False])
async def test_stats_tell_the_newest_metadata_of_sound_whoever_hears_it(
    make_stream: MakeStream, is_heard: bool
) -> None:
    stream = make_stream(video(), audio(), audio("hum"))
    if is_heard:
        Viewer(stream, "voice", Codec.OPUS)
    tone = np.full((1, 24_000), 900, np.int16)
    for number in range(2):
        sound = {"voice": tone, "hum": tone}
        stream.put(make_chunk(audio=sound, metadata={"voice": ({"number": number},)}))
    await until(lambda: "metadata" in stream.stats()["tracks"]["voice"])
    seen = stream.stats()["tracks"]
    assert not {"fps", "frames", "late"} & set(seen["voice"])  # a sound shows no pictures
    assert seen["voice"]["metadata"] == '{"number": 0}'  # the queued one has not begun
    assert {"metadata"} & (seen["hum"].keys() | seen["main"].keys()) == set()
    await until(lambda: stream.stats()["tracks"]["voice"]["metadata"] == '{"number": 1}')
    stream.flush()
    assert "metadata" not in stream.stats()["tracks"]["voice"]


async def test_long_metadata_is_cut_in_stats(make_stream: MakeStream) -> None:
    stream = make_stream()
    stream.put(make_chunk({"main": plain(RED)}, metadata={"main": (list(range(100_000)),)}))
    await until(lambda: "metadata" in stream.stats()["tracks"]["main"])
    text = stream.stats()["tracks"]["main"]["metadata"]
    assert (len(text), text[:6], text[-1]) == (1024, "[0, 1,", "…")


async def test_each_picture_wakes_one_thread_where_there_is_no_sound(
    make_stream: MakeStream,
) -> None:
    before = set(threading.enumerate())
    make_stream()
    (lane,) = set(threading.enumerate()) - before
    assert "video" in lane.name


async def test_stopping_ends_every_thread_and_lets_the_model_go(make_stream: MakeStream) -> None:
    before = set(threading.enumerate())
    stream = make_stream(video(), audio())
    Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": plain(RED, frames=100)}))
    began = CLOCK.now()
    stream.stop()
    stream.stop()
    assert CLOCK.now() - began < 2
    assert set(threading.enumerate()) <= before
    assert stream.has_room(1)
    assert stream.step_at(1) is not None
    stream.put(make_chunk({"main": plain(RED)}))
    stream.flush()
    stream.reset()


async def test_pictures_that_cannot_be_encoded_are_lost_and_no_others(
    make_stream: MakeStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "LARGEST_SIDE", 20_000)
    stream = make_stream()
    viewer = Viewer(stream, "main", Codec.VP8)
    for _ in range(2):
        stream.put(make_chunk({"main": np.zeros((1, 2, 20_000, 3), np.uint8)}))
    stream.put(make_chunk({"main": plain(GREEN)}))
    await viewer.wait(1)
    assert close_to(viewer.colours()[0], GREEN)
    assert stream.stats()["tracks"]["main"]["dropped"] == 2


async def test_a_lower_rung_is_smaller_cheaper_and_encoded_only_for_those_on_it(
    make_stream: MakeStream,
) -> None:
    stream = make_stream(video())
    noise = np.random.default_rng(1).integers(0, 256, (40, 360, 640, 3), np.uint8)
    top = Viewer(stream, "main", Codec.VP8)
    stream.put(make_chunk({"main": noise[:10]}))
    await top.wait(10)
    assert "VP8/low" not in stream.stats()["tracks"]["main"]["codecs"]
    low = Viewer(stream, "main", Codec.VP8, Rung.LOW)
    await low.wait(1)  # at once, from the last picture
    stream.put(make_chunk({"main": noise[10:]}))
    await top.wait(40)
    await low.wait(31)
    assert low.frames[0].is_key
    assert {frame.rung for frame in low.frames} == {Rung.LOW}
    assert low.pictures()[-1].shape == (180, 320, 3)
    sizes = [sum(len(frame.data) for frame in each.frames[-25:]) for each in (top, low)]
    assert sizes[1] < sizes[0] / 2.5
    times = {frame.timestamp for frame in top.frames}
    assert {frame.timestamp for frame in low.frames[1:]} <= times
    assert top.keys == 1  # nobody on the top paid for the lower rung
    low.subscription.close()
    made = []
    for more in (1, 2):
        stream.put(make_chunk({"main": noise[:5]}))
        await top.wait(40 + 5 * more)
        made.append(stream.stats()["tracks"]["main"]["codecs"]["VP8/low"]["frames"])
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((640, 360), (320, 180)),
        ((1280, 720), (640, 360)),
        ((720, 1280), (360, 640)),
        ((400, 240), (300, 180)),
        ((320, 180), (320, 180)),
        ((64, 48), (64, 48)),
        ((1281, 721), (640, 360)),
    ],
)
def test_lower_rungs_halve_what_is_large(size: tuple[int, int], expected: tuple[int, int]) -> None:
    whole, shrinker = make_black(*size), Shrinker()
    small = shrinker.shrink(whole, Rung.LOW)
    assert small.size == expected
    assert shrinker.shrink(whole, Rung.LOW) is small  # made once, for every codec
    assert shrinker.shrink(whole, Rung.TOP) is whole
