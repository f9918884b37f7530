import threading

import numpy as np
from tests.unit.recording.material import picture

from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.tape import (
    Begun,
    Ended,
    Item,
    PictureShown,
    Rested,
    SoundHeard,
    Tape,
)

BYTES = 160 * 120 * 3 // 2


def shown(at_s: float) -> PictureShown:
    return PictureShown(picture=picture(9), at_s=at_s, length_s=0.04)


def test_what_is_put_is_taken_in_order() -> None:
    tape = Tape(10 * BYTES)
    items: list[Item] = [
        Begun(recording=Recording()),
        shown(0.0),
        Rested(at_s=1.0),
        Ended(at_s=1.0),
    ]
    assert all(tape.put(item) for item in items)
    assert [tape.take(0) for _ in items] == items
    assert tape.take(0.01) is None


def test_pictures_past_the_bound_find_no_room_and_everything_else_does() -> None:
    tape = Tape(3 * BYTES)
    assert [tape.put(shown(at)) for at in range(4)] == [True, True, True, False]
    assert tape.put(Ended(at_s=9.0))
    tape.take(0)
    assert tape.put(shown(9.0))


def test_a_picture_larger_than_the_bound_is_taken_alone() -> None:
    tape = Tape(1)
    assert [tape.put(shown(0.0)), tape.put(shown(1.0))] == [True, False]


def test_sound_is_bounded_too() -> None:
    tape, sound = Tape(BYTES), SoundHeard(samples=np.zeros((960, 2), np.int16), at_s=0.0)
    taken = [tape.put(sound) for _ in range(2000)]
    assert 500 < taken.count(True) < 2000


def test_closing_wakes_the_reader_and_forgets_the_rest() -> None:
    tape = Tape(BYTES)
    threading.Timer(0.05, tape.close).start()
    assert tape.take(20) is None
    assert tape.is_closed
    assert not tape.put(shown(0.0))
