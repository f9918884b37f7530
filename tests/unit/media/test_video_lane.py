"""The lane without its thread: a hand on the clock, and what it would do when."""

import asyncio

import numpy as np
import pytest

from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import ChunkOrigin, Pacer
from reactor_runtime.media.picture import PictureMaker
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.shrinker import Shrinker
from reactor_runtime.media.subscription import Subscription
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.media.track_figures import TrackFigures
from reactor_runtime.media.video_encoding import VideoEncoding, bitrate_for
from reactor_runtime.media.video_lane import VideoLane
from reactor_runtime.metrics import Metrics
from reactor_runtime.testing.fake_clock import FakeClock, settle

RENDITION = Rendition("main", Codec.VP8)


class Bench:
    """A lane on a table, with one viewer's list of what arrived."""

    def __init__(self) -> None:
        self.clock = FakeClock(now_s=100.0)
        settings = MediaSettings()
        self.pacer = Pacer({}, has_video=True, settings=settings, clock=self.clock)
        self.figures = TrackFigures("main", [RENDITION], Metrics())
        self.fan_out = FanOut(self.pacer.changed, clock=self.clock)
        self.encoding = VideoEncoding(
            RENDITION,
            self.fan_out,
            shrinker=Shrinker(),
            settings=settings,
            clock=self.clock,
            figures=self.figures,
        )
        self.lane = VideoLane(
            "main", self.pacer, [self.encoding], clock=self.clock, figures=self.figures
        )
        self.got: list[EncodedFrame] = []

    def subscribe(self) -> Subscription:
        return self.fan_out.subscribe(self.got.append)

    def put(self, frames: int = 1, *, fps: float = 10.0, size: tuple[int, int] = (32, 32)) -> None:
        rgb = np.full((frames, size[1], size[0], 3), 90, np.uint8)
        now = self.clock.now()
        origin = ChunkOrigin(
            started_at=now, arrived_at=now, compute_s=0.01, pinned_fps=fps, sound_s=0.0
        )
        self.pacer.put(QueuedChunk({"main": PictureMaker().convert(rgb)}, {}), origin)

    async def run_until(self, when: float) -> list[EncodedFrame]:
        """Do all work due until *when*, and return the frames it made."""
        before = len(self.got)
        while True:
            with self.pacer.changed:
                work = self.lane.take(self.clock.now())
                wakes_at = self.lane.wakes_at(self.clock.now())
            if work is not None:
                work(asyncio.get_running_loop())
                await settle()
            elif wakes_at is not None and wakes_at <= when:
                self.clock.jump(wakes_at - self.clock.now())
            else:
                break
        self.clock.jump(max(0.0, when - self.clock.now()))
        return self.got[before:]


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_pictures_are_shown_at_their_times_stamped_by_the_timeline(bench: Bench) -> None:
    bench.subscribe()
    bench.put(5)
    frames = await bench.run_until(100.45)
    assert [each.timestamp for each in frames] == [0, 9000, 18_000, 27_000, 36_000]
    assert [round(each.presented_at, 6) for each in frames] == [100, 100.1, 100.2, 100.3, 100.4]
    assert [each.number for each in frames] == list(range(5))
    assert [each.is_key for each in frames] == [True] + [False] * 4


async def test_a_join_between_ticks_gets_the_last_picture_as_a_key_frame(bench: Bench) -> None:
    bench.subscribe()
    bench.put(2, fps=4)
    await bench.run_until(100.1)
    bench.fan_out.subscribe(lambda _: None)
    (again,) = await bench.run_until(100.1)
    assert again.is_key
    assert again.timestamp == 9000
    (after,) = await bench.run_until(100.3)
    assert after.timestamp == 22_500
    assert not after.is_key


async def test_nothing_is_encoded_before_somebody_looks(bench: Bench) -> None:
    bench.put(3)
    await bench.run_until(100.35)
    assert bench.pacer.timeline.frames == 0
    assert bench.figures.as_dict(100.35)["frames"] == 3
    assert bench.figures.of(RENDITION).as_dict(100.35)["frames"] == 0
    assert bench.encoding.closes_at is None
    bench.subscribe()
    (first,) = await bench.run_until(100.35)
    assert first.is_key


async def test_the_encoder_closes_ten_seconds_after_the_last_left(bench: Bench) -> None:
    subscription = bench.subscribe()
    bench.put()
    await bench.run_until(103.0)
    subscription.close()
    assert bench.encoding.closes_at == 113.0
    await bench.run_until(112.9)
    assert bench.encoding.closes_at == 113.0
    await bench.run_until(113.1)
    assert bench.encoding.closes_at is None


async def test_a_still_picture_is_sharpened_a_few_times_and_then_rests(bench: Bench) -> None:
    bench.subscribe()
    bench.put()
    assert len(await bench.run_until(100.45)) == 1
    assert len(await bench.run_until(110.0)) == 4
    assert bench.lane.wakes_at(110.0) is None


async def test_steady_pictures_are_never_repeated(bench: Bench) -> None:
    bench.subscribe()
    for _ in range(20):
        bench.put(fps=2.5)
        assert len(await bench.run_until(bench.clock.now() + 0.4)) == 1


async def test_after_a_flush_black_is_sent_at_once_and_what_was_queued_is_gone(
    bench: Bench,
) -> None:
    bench.subscribe()
    bench.put(10)
    await bench.run_until(100.05)
    bench.pacer.clear()
    bench.lane.cut_to_black()
    (black,) = await bench.run_until(100.05)
    assert black.timestamp == 4500
    bench.put(2)
    frames = await bench.run_until(100.2)
    assert [each.timestamp for each in frames] == [4501, 13_500]


async def test_a_flush_before_anything_was_shown_shows_nothing(bench: Bench) -> None:
    bench.subscribe()
    bench.lane.cut_to_black()
    assert await bench.run_until(101.0) == []


async def test_what_was_shown_in_the_last_session_is_forgotten(bench: Bench) -> None:
    bench.put()
    await bench.run_until(100.2)
    bench.lane.forget()
    bench.subscribe()
    assert await bench.run_until(105.0) == []


async def test_a_new_size_opens_a_new_encoder_with_a_key_frame(bench: Bench) -> None:
    bench.subscribe()
    bench.put(2)
    bench.put(1, size=(48, 40))
    frames = await bench.run_until(100.25)
    assert [each.is_key for each in frames] == [True, False, True]


async def test_reports_of_loss_are_limited_and_kept(bench: Bench) -> None:
    subscription = bench.subscribe()
    bench.put(100)
    times = []
    for step in range(90):
        frames = await bench.run_until(100.0 + step * 0.1)
        times += [round(each.presented_at - 100, 1) for each in frames if each.is_key]
        subscription.request_key()
    assert times == [0.0, 1.0, 3.0, 7.0]


async def test_a_stalled_loop_stops_the_encoder_not_the_clock(bench: Bench) -> None:
    bench.subscribe()
    bench.put(40, fps=20)
    loop, taken = asyncio.get_running_loop(), 0
    for step in range(40):
        bench.clock.jump(100 + step * 0.05 - bench.clock.now())
        with bench.pacer.changed:
            work = bench.lane.take(bench.clock.now())
        if work is not None:
            taken += 1
            work(loop)
    await settle()
    assert taken == 40
    assert [each.number for each in bench.got] == list(range(8))
    assert bench.figures.as_dict(102)["dropped"] == 32
    bench.put(fps=20)
    frames = await bench.run_until(102.1)
    assert [(each.number, each.is_key) for each in frames] == [(8, False)]


async def test_a_key_frame_owed_to_a_stalled_loop_waits_for_it(bench: Bench) -> None:
    subscription = bench.subscribe()
    bench.put(9, fps=20)
    await bench.run_until(100.01)
    loop = asyncio.get_running_loop()
    for _ in range(8):
        bench.clock.jump(0.05)
        with bench.pacer.changed:
            work = bench.lane.take(bench.clock.now())
        assert work is not None
        work(loop)
    subscription.request_key(urgent=True)
    bench.clock.jump(0.2)
    with bench.pacer.changed:
        assert bench.lane.take(bench.clock.now()) is None
        wakes_at = bench.lane.wakes_at(bench.clock.now())
    assert wakes_at is not None
    assert wakes_at > bench.clock.now()
    await settle()
    await bench.run_until(bench.clock.now() + 0.01)
    assert [each.number for each in bench.got if each.is_key] == [0, 9]


async def test_a_much_higher_rate_of_pictures_gets_its_bits(bench: Bench) -> None:
    bench.subscribe()
    bench.put(10, fps=10, size=(320, 180))
    await bench.run_until(101.0)
    for _ in range(11):
        bench.put(60, fps=60, size=(320, 180))
    keys = [each.presented_at for each in await bench.run_until(111.5) if each.is_key]
    assert len(keys) == 1
    assert 109.9 < keys[0] < 110.2


def test_bits_grow_with_pixels_and_rate_up_to_the_limit() -> None:
    settings = MediaSettings(bitrate=4_000_000, max_bitrate=8_000_000)
    assert bitrate_for(1280 * 720, 24, settings) == 4_000_000
    assert 4_000_000 < bitrate_for(1920 * 1080, 24, settings) < 8_000_000
    assert bitrate_for(3840 * 2160, 60, settings) == 8_000_000
    assert bitrate_for(16, 10, settings) == 150_000
