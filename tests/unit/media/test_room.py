import numpy as np
import pytest

from reactor_runtime.media.picture import Picture
from reactor_runtime.media.room import Room
from reactor_runtime.media.timeline import QueuedChunk, Timeline


def chunk(frames: int, duration: float) -> QueuedChunk:
    pictures = {"main": [Picture(frame=None)] * frames}
    return QueuedChunk(pictures, {}, duration=duration)


def test_two_frames_fit_by_default() -> None:
    timeline = Timeline()
    room = Room(timeline, bound=None, has_video=True)
    for _ in range(2):
        assert room.ask(1, 9.0)
        timeline.put(chunk(1, 0.04), 10.0)
    assert not room.ask(1, 9.0)
    assert room.free_at(1, 9.0) == 10.0


def test_one_chunk_fits_however_large() -> None:
    timeline = Timeline()
    room = Room(timeline, bound=None, has_video=True)
    assert room.ask(12, 9.0)
    timeline.put(chunk(12, 0.48), 10.0)
    assert not room.ask(12, 9.0)
    assert round(room.free_at(12, 9.0), 6) == 10.44


def test_the_author_bounds_the_queue_but_never_below_one_chunk() -> None:
    timeline = Timeline()
    room = Room(timeline, bound=1, has_video=True)
    assert room.ask(12, 9.0)
    timeline.put(chunk(1, 0.04), 10.0)
    assert not room.ask(1, 9.0)
    wide = Room(timeline, bound=13, has_video=True)
    assert wide.ask(12, 9.0)
    assert not wide.ask(13, 9.0)


def test_a_model_of_sound_alone_has_room_for_two_packets() -> None:
    timeline = Timeline()
    room = Room(timeline, bound=None, has_video=False)
    sound = QueuedChunk({}, {"voice": np.zeros((48_000, 2), np.int16)}, duration=1.0)
    timeline.put(sound, 10.0)
    assert not room.ask(0, 10.0)
    assert room.free_at(0, 10.0) == 10.96


def test_who_was_refused_is_told_once_when_there_is_room() -> None:
    timeline, told = Timeline(), []
    room = Room(timeline, bound=None, has_video=True)
    room.on_room(lambda: told.append(1))
    timeline.put(chunk(3, 0.12), 10.0)
    assert room.announce(10.0) is None
    room.ask(1, 9.0)
    assert room.announce(10.0) == 10.04
    assert told == []
    timeline.take("main", 10.0)
    timeline.take("main", 10.04)
    assert room.announce(10.04) is None
    assert room.announce(10.04) is None
    assert told == [1]


@pytest.mark.parametrize("bound", [None, 1, 4, 13])
@pytest.mark.parametrize("queued", [0, 1, 3])
@pytest.mark.parametrize("coming", [1, 2, 12])
@pytest.mark.parametrize("frames", [1, 12])
def test_what_is_coming_takes_the_room_it_will_take_in_the_queue(
    bound: int | None, queued: int, coming: int, frames: int
) -> None:
    timelines = [Timeline(), Timeline()]
    for timeline in timelines:
        if queued:
            timeline.put(chunk(queued, queued * 0.04), 10.0)
    before, after = (Room(timeline, bound=bound, has_video=True) for timeline in timelines)
    timelines[1].put(chunk(coming, coming * 0.04), 10.0)
    expected = after.free_at(frames, 10.0)
    assert before.free_at(frames, 10.0, coming, 0.04) == pytest.approx(expected)
