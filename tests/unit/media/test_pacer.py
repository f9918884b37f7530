from typing import Any

import numpy as np
import pytest

from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import ChunkOrigin, Pacer
from reactor_runtime.media.picture import Picture
from reactor_runtime.media.sample_line import SampleLine
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.testing.fake_clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(now_s=100.0)


@pytest.fixture
def pacer(clock: FakeClock) -> Pacer:
    return Pacer({"voice": SampleLine()}, has_video=True, settings=MediaSettings(), clock=clock)


def put(pacer: Pacer, clock: FakeClock, frames: int = 1, **facts: Any) -> None:
    sound_s = facts.pop("sound_s", 0.0)
    sounds = {"voice": np.full((round(sound_s * 48_000), 2), 7, np.int16)} if sound_s else {}
    defaults = {"started_at": clock.now(), "compute_s": 0.001, "pinned_fps": 20.0}
    origin = ChunkOrigin(**defaults | {"arrived_at": clock.now(), "sound_s": sound_s} | facts)
    pacer.put(QueuedChunk({"main": [Picture(frame=None)] * frames}, sounds), origin)


def dues(pacer: Pacer, clock: FakeClock) -> list[float]:
    found = []
    while (due := pacer.timeline.due("main")) is not None:
        pacer.timeline.take("main", due)
        found.append(round(due - clock.now(), 6))
    return found


def test_pinned_frames_last_their_share_of_a_second(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=4)
    assert dues(pacer, clock) == [0, 0.05, 0.1, 0.15]


def test_unpinned_frames_follow_the_measured_rate(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=4, pinned_fps=None, compute_s=0.4)
    assert dues(pacer, clock) == [0, 0.1, 0.2, 0.3]


def test_a_slow_first_step_does_not_hold_up_what_follows(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, pinned_fps=None, compute_s=30.0)
    pacer.timeline.take("main", clock.now())
    for _ in range(4):
        clock.jump(0.1)
        put(pacer, clock, pinned_fps=None, compute_s=0.1)
    assert dues(pacer, clock)[-1] < 0.31
    assert pacer.stats()["pacing_fps"] == pytest.approx(10)


def test_a_chunk_with_sound_lasts_as_long_as_its_sound(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=5, sound_s=1.0)
    put(pacer, clock, frames=1, sound_s=0.02)
    assert dues(pacer, clock) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert pacer.timeline.end(0) == pytest.approx(101.02)


def test_an_empty_chunk_is_ignored(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=0)
    put(pacer, clock, frames=1)
    assert pacer.timeline.due("main") == 100.0


def test_sound_lies_at_the_time_of_its_pictures(pacer: Pacer, clock: FakeClock) -> None:
    clock.jump(0.5)
    put(pacer, clock, sound_s=0.1)
    assert pacer.take_sound("voice", 23_040, 960).any(axis=1).sum() == 0
    assert pacer.take_sound("voice", 24_000, 960).all()
    assert pacer.take_sound("voice", 24_960, 4800).all(axis=1).sum() == 3840


def test_sound_nobody_takes_is_forgotten(pacer: Pacer, clock: FakeClock) -> None:
    for _ in range(100):
        put(pacer, clock, frames=0, sound_s=0.5)
        clock.jump(0.5)
    assert not pacer.take_sound("voice", 24_000 * 90, 960).any()


def test_clearing_drops_sound_and_pictures(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=5, sound_s=1.0)
    pacer.take_sound("voice", 0, 960)
    clock.jump(0.1)
    pacer.clear()
    assert pacer.timeline.due("main") is None
    assert pacer.take_sound("voice", 960, 48_000)[: 4800 - 960].all()
    assert not pacer.take_sound("voice", 4800, 48_000).any()


def test_the_late_gate_opens_just_before_the_queue_runs_dry(pacer: Pacer, clock: FakeClock) -> None:
    assert pacer.step_at(1) <= 100.0
    put(pacer, clock, started_at=99.99)
    pacer.timeline.take("main", 100.0)
    assert pacer.step_at(1) == pytest.approx(100.05 - 0.01 - 0.003)


def test_the_late_gate_counts_what_is_on_its_way(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, started_at=99.99)
    gated = pacer.step_at(1, coming=1)
    assert gated == pytest.approx(100.05 + 0.05 - 0.01 - 0.003)
    put(pacer, clock, started_at=99.99)
    assert pacer.step_at(1) == pytest.approx(gated)


def test_the_gate_waits_for_room_however_long_steps_take(pacer: Pacer, clock: FakeClock) -> None:
    for _ in range(3):
        put(pacer, clock, frames=12, started_at=clock.now() - 0.02)
    lead, room_at = 0.02, 100 + 2 * 0.6 + 0.55
    assert pacer.step_at(12) >= room_at - lead


def test_waiting_for_room_is_no_part_of_a_step(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock, frames=4)
    pacer.timeline.take("main", clock.now())
    begun = clock.now()
    clock.jump(0.004)
    assert not pacer.has_room(1)
    clock.jump(0.096)
    put(pacer, clock, started_at=begun)
    assert pacer.stats()["lead_ms"] <= 4.001


def test_room_is_announced_on_flush_and_new_rates(pacer: Pacer, clock: FakeClock) -> None:
    told: list[str] = []
    pacer.on_room(lambda: told.append("room"))
    put(pacer, clock, frames=4)
    assert not pacer.has_room(1)
    pacer.set_fps(10)
    pacer.clear()
    pacer.forget()
    assert told == ["room"] * 3
    assert pacer.has_room(1)


def test_a_session_leaves_no_rate_behind(pacer: Pacer, clock: FakeClock) -> None:
    pacer.set_fps(5)
    assert pacer.stats()["pacing_fps"] == 5
    pacer.forget()
    assert pacer.stats()["pacing_fps"] == 60
    put(pacer, clock, frames=2, pinned_fps=None, compute_s=0.2)
    assert dues(pacer, clock) == [0, 0.1]


def test_late_chunks_are_counted(pacer: Pacer, clock: FakeClock) -> None:
    put(pacer, clock)
    clock.jump(0.2)
    put(pacer, clock)
    assert pacer.stats()["late_chunks"] == 1
