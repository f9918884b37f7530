import asyncio
import threading

import pytest

from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.testing.fake_clock import FakeClock, settle


def frame(number: int, *, key: bool = False) -> EncodedFrame:
    return EncodedFrame(
        track="main",
        codec=Codec.VP8,
        data=b"x",
        timestamp=number * 3600,
        presented_at=float(number),
        is_key=key,
        number=number,
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(now_s=50.0)


@pytest.fixture
def fan_out(clock: FakeClock) -> FanOut:
    return FanOut(threading.Condition(), clock=clock)


async def test_everyone_gets_every_frame_from_a_key_frame_on(fan_out: FanOut) -> None:
    loop, first, second = asyncio.get_running_loop(), [], []
    fan_out.subscribe(lambda each: first.append(each.number))
    fan_out.post(frame(0), loop)
    fan_out.post(frame(1, key=True), loop)
    fan_out.post(frame(2), loop)
    await settle()
    fan_out.subscribe(lambda each: second.append(each.number))
    fan_out.post(frame(3), loop)
    fan_out.post(frame(4, key=True), loop)
    await settle()
    assert first == [1, 2, 3, 4]
    assert second == [4]


async def test_a_join_asks_for_a_key_frame_at_once(fan_out: FanOut, clock: FakeClock) -> None:
    assert fan_out.key_due is None
    fan_out.subscribe(lambda _: None)
    assert fan_out.key_due == clock.now()
    fan_out.note_key()
    assert fan_out.key_due is None


async def test_a_key_frame_under_way_serves_who_joined_meanwhile(fan_out: FanOut) -> None:
    loop = asyncio.get_running_loop()
    fan_out.subscribe(lambda _: None)
    fan_out.note_key()
    fan_out.post(frame(0, key=True), loop)
    fan_out.subscribe(lambda _: None)
    assert fan_out.key_due is not None
    await settle()
    assert fan_out.key_due is None


async def test_who_closed_gets_nothing_and_asks_for_nothing(fan_out: FanOut) -> None:
    got: list[int] = []
    subscription = fan_out.subscribe(lambda each: got.append(each.number))
    fan_out.post(frame(0, key=True), asyncio.get_running_loop())
    subscription.close()
    subscription.close()
    subscription.request_key(urgent=True)
    await settle()
    assert got == []
    assert fan_out.viewers == 0
    assert fan_out.key_due is None


async def test_a_sink_may_close_its_subscription(fan_out: FanOut) -> None:
    got: list[int] = []

    def take_one(each: EncodedFrame) -> None:
        got.append(each.number)
        once.close()

    once = fan_out.subscribe(take_one)
    fan_out.subscribe(lambda each: got.append(100 + each.number))
    fan_out.post(frame(0, key=True), asyncio.get_running_loop())
    fan_out.post(frame(1), asyncio.get_running_loop())
    await settle()
    assert got == [0, 100, 101]


async def test_a_loop_that_does_not_keep_up_is_seen(fan_out: FanOut) -> None:
    loop = asyncio.get_running_loop()
    for number in range(8):
        assert not fan_out.is_clogged
        fan_out.post(frame(number), loop)
    assert fan_out.is_clogged
    await settle()
    assert not fan_out.is_clogged


async def test_who_is_owed_a_key_frame_waits_for_a_loop_that_keeps_up(fan_out: FanOut) -> None:
    loop = asyncio.get_running_loop()
    fan_out.subscribe(lambda _: None)
    for number in range(8):
        assert fan_out.key_due is not None
        fan_out.post(frame(number), loop)
    assert fan_out.key_due is None
    await settle()
    assert fan_out.key_due is not None


async def test_its_encoder_may_close_some_time_after_the_last_left(
    fan_out: FanOut, clock: FakeClock
) -> None:
    assert fan_out.idle_at(10) is None
    one, two = fan_out.subscribe(lambda _: None), fan_out.subscribe(lambda _: None)
    one.close()
    assert fan_out.idle_at(10) is None
    clock.jump(5)
    two.close()
    assert fan_out.idle_at(10) == 65.0
    fan_out.subscribe(lambda _: None)
    assert fan_out.idle_at(10) is None


def test_a_closed_loop_gets_nothing(fan_out: FanOut) -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    fan_out.post(frame(0, key=True), loop)
