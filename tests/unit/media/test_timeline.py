from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reactor_runtime.media.picture import Picture
from reactor_runtime.media.timeline import QueuedChunk, Said, Shown, Timeline


def chunk(frames: int, duration: float, *, sound: bool = False, **others: int) -> QueuedChunk:
    def named(track: str, count: int) -> list[Picture]:
        return [Picture(frame=None, metadata=f"{track}{index}") for index in range(count)]

    pictures = {"main": named("main", frames)} | {t: named(t, n) for t, n in others.items()}
    sounds: dict[str, Any] = {"voice": np.zeros((1, 2), np.int16)} if sound else {}
    return QueuedChunk(pictures, sounds, duration=duration)


def play(timeline: Timeline, track: str = "main", *, by: float = 0.0) -> list[Shown]:
    """Take everything, each frame *by* seconds after its time."""
    shown = []
    while (due := timeline.due(track)) is not None:
        assert timeline.take(track, due - 0.001) is None
        taken = timeline.take(track, due + by)
        assert taken is not None
        shown.append(taken)
    return shown


def times(shown: list[Shown]) -> list[float]:
    return [round(each.time, 6) for each in shown]


def test_the_frames_of_a_chunk_are_evenly_spaced() -> None:
    timeline = Timeline()
    timeline.put(chunk(12, 0.48), 10.0)
    assert times(play(timeline)) == [round(10 + 0.04 * k, 6) for k in range(12)]


def test_chunks_follow_each_other_without_drift_however_late_the_thread_wakes() -> None:
    timeline = Timeline()
    now, all_times = 10.0, []
    for _ in range(200):
        timeline.put(chunk(1, 0.04), now)
        due = timeline.due("main")
        assert due is not None
        now = due + 0.005
        taken = timeline.take("main", now)
        assert taken is not None
        all_times.append(taken.time)
    assert all_times[-1] == pytest.approx(10 + 199 * 0.04)


def test_a_late_chunk_shifts_the_timeline_and_skips_nothing() -> None:
    timeline = Timeline()
    assert timeline.put(chunk(1, 0.04), 10.0) == 0
    play(timeline)
    assert timeline.put(chunk(2, 0.08), 10.1) == pytest.approx(0.06)
    assert timeline.put(chunk(1, 0.04), 10.11) == 0
    assert times(play(timeline)) == [10.1, 10.14, 10.18]


def test_a_stalled_thread_moves_what_follows_instead_of_catching_up() -> None:
    timeline = Timeline()
    timeline.put(chunk(4, 0.16), 10.0)
    timeline.take("main", 10.0)
    late = timeline.take("main", 10.3)
    assert late is not None
    assert (late.time, late.skipped) == (10.3, 0)
    assert late.late_s == pytest.approx(0.26)
    assert times(play(timeline)) == [10.34, 10.38]
    assert timeline.end(0) == pytest.approx(10.42)


def test_pictures_with_sound_keep_to_it_and_skip_after_a_stall() -> None:
    timeline = Timeline()
    timeline.put(chunk(25, 1.0, sound=True), 10.0)
    assert len(timeline.take_sounds(10.0)) == 1
    timeline.take("main", 10.0)
    late = timeline.take("main", 10.5)
    assert late is not None
    assert late.picture.metadata == "main7"
    assert late.time == pytest.approx(10.28)
    assert late.skipped == 6
    assert times(play(timeline))[-1] == pytest.approx(10.96)


def test_tracks_of_a_chunk_share_its_length() -> None:
    timeline = Timeline()
    timeline.put(chunk(4, 0.4, depth=2), 10.0)
    assert timeline.frames == 4
    assert times(play(timeline, "depth")) == [10.0, 10.2]
    assert timeline.frames == 4
    assert times(play(timeline)) == [10.0, 10.1, 10.2, 10.3]
    assert timeline.frames == 0


def test_sound_is_handed_out_once_when_its_chunk_begins() -> None:
    timeline = Timeline()
    timeline.put(chunk(1, 0.5, sound=True), 10.0)
    timeline.put(chunk(1, 0.5, sound=True), 10.0)
    assert [(track, start) for track, start, _ in timeline.take_sounds(10.2)] == [("voice", 10.0)]
    assert timeline.take_sounds(10.2) == []
    assert [start for _, start, _ in timeline.take_sounds(10.5)] == [10.5]


def test_what_is_said_of_a_sound_is_due_when_the_sound_begins() -> None:
    timeline = Timeline()
    for number in range(2):
        sounds = {"voice": np.zeros((1, 2), np.int16), "hum": np.zeros((1, 2), np.int16)}
        timeline.put(QueuedChunk({}, sounds, {"voice": number}, duration=0.5), 10.0)
    assert timeline.unsaid.due == 10.0
    timeline.take_sounds(10.5)  # handed out ahead of its time
    assert timeline.unsaid.take(10.4) == [Said(track="voice", time=10.0, metadata=0)]
    assert timeline.unsaid.take(10.4) == []
    assert timeline.unsaid.due == 10.5
    assert [said.metadata for said in timeline.unsaid.take(11)] == [1]
    assert timeline.unsaid.due is None


@pytest.mark.parametrize("drop", [lambda t: t.clear(10.0), Timeline.forget])
def test_what_was_to_be_said_goes_with_the_queue(drop: Callable[[Timeline], None]) -> None:
    timeline = Timeline()
    timeline.put(QueuedChunk({}, {"voice": np.zeros((1, 2), np.int16)}, {"voice": 1}), 10.0)
    drop(timeline)
    assert (timeline.unsaid.due, timeline.unsaid.take(99)) == (None, [])


def test_a_new_rate_repaces_what_is_queued() -> None:
    timeline = Timeline()
    timeline.put(chunk(4, 0.4), 10.0)
    timeline.put(chunk(2, 0.2), 10.0)
    timeline.take("main", 10.0)
    timeline.repace(50, 10.01)
    assert times(play(timeline)) == [10.02, 10.04, 10.06, 10.08, 10.1]
    assert timeline.end(0) == pytest.approx(10.12)


def test_a_new_rate_never_makes_a_burst() -> None:
    timeline = Timeline()
    timeline.put(chunk(4, 2.0), 10.0)
    timeline.take("main", 10.0)
    timeline.repace(50, 10.4)
    assert times(play(timeline)) == [10.4, 10.42, 10.44]


def test_a_new_rate_moves_the_end_when_nothing_is_queued() -> None:
    timeline = Timeline()
    timeline.put(chunk(1, 0.5), 10.0)
    timeline.take("main", 10.0)
    timeline.repace(50, 10.01)
    timeline.put(chunk(1, 0.02), 10.01)
    assert timeline.due("main") == pytest.approx(10.02)


def test_a_new_rate_leaves_sound_alone() -> None:
    timeline = Timeline()
    timeline.put(chunk(2, 1.0, sound=True), 10.0)
    timeline.put(chunk(2, 0.2), 10.0)
    timeline.repace(5, 10.0)
    assert times(play(timeline)) == [10.0, 10.5, 11.0, 11.2]


def test_clearing_shows_the_next_chunk_at_once() -> None:
    timeline = Timeline()
    timeline.put(chunk(50, 2.0), 10.0)
    timeline.clear(10.1)
    assert timeline.frames == 0
    assert timeline.put(chunk(1, 0.04), 10.1) == 0
    assert timeline.due("main") == 10.1


def test_it_says_when_it_will_have_drained() -> None:
    timeline = Timeline()
    timeline.put(chunk(2, 0.2), 10.0)
    timeline.put(chunk(2, 0.4), 10.0)
    assert timeline.drained_at(4, 9.9) == 9.9
    assert timeline.drained_at(3, 9.9) == pytest.approx(10.0)
    assert timeline.drained_at(1, 9.9) == pytest.approx(10.2)
    assert timeline.drained_at(0, 9.9) == pytest.approx(10.4)


def test_times_never_go_back() -> None:
    timeline, shown, now = Timeline(), [], 10.0
    for index in range(60):
        timeline.put(chunk(1 + index % 5, 0.01 + 0.02 * (index % 7), sound=index % 3 == 0), now)
        if index % 11 == 0:
            timeline.repace(10 + index, now)
        timeline.take_sounds(now)
        while (taken := timeline.take("main", now)) is not None:
            shown.append(taken.time)
        now += 0.03 * (index % 4)
    assert len(shown) > 40
    assert shown == sorted(shown)
