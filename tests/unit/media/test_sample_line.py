import itertools

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.sample_line import SampleLine


def tone(value: int, count: int) -> NDArray[np.int16]:
    return np.full((count, 2), value, np.int16)


def runs(samples: NDArray[np.int16]) -> list[tuple[int, int]]:
    """Return (value, length) of each stretch."""
    edges = [0, *(np.flatnonzero(np.diff(samples[:, 0])) + 1), len(samples)]
    return [(int(samples[a, 0]), int(b - a)) for a, b in itertools.pairwise(edges)]


def test_what_is_not_there_is_silence() -> None:
    assert runs(SampleLine().take(5000, 960)) == [(0, 960)]


def test_sound_lies_where_it_was_put() -> None:
    line = SampleLine()
    line.append(1000, tone(1, 500))
    assert runs(line.take(960, 960)) == [(0, 40), (1, 500), (0, 420)]


def test_a_packet_may_end_inside_a_chunk() -> None:
    line = SampleLine()
    line.append(0, tone(1, 1500))
    line.append(1500, tone(2, 1500))
    assert runs(line.take(0, 960)) == [(1, 960)]
    assert runs(line.take(960, 960)) == [(1, 540), (2, 420)]
    assert runs(line.take(1920, 1920)) == [(2, 1080), (0, 840)]


def test_a_gap_no_one_would_hear_as_a_pause_is_closed() -> None:
    line = SampleLine()
    line.append(0, tone(1, 480))
    line.append(480 + 100, tone(2, 480))
    assert runs(line.take(0, 960)) == [(1, 480), (2, 480)]


def test_a_real_pause_is_kept() -> None:
    line = SampleLine()
    line.append(0, tone(1, 480))
    line.append(480 + 200, tone(2, 280))
    assert runs(line.take(0, 960)) == [(1, 480), (0, 200), (2, 280)]


def test_sound_that_comes_after_its_packet_left_is_played_late_not_lost() -> None:
    line = SampleLine()
    line.take(0, 960)
    line.append(500, tone(1, 960))
    assert runs(line.take(960, 960)) == [(1, 960)]


def test_a_delayed_line_holds_everything_later() -> None:
    line = SampleLine(delay=96)
    line.append(0, tone(1, 864))
    assert runs(line.take(0, 960)) == [(0, 96), (1, 864)]


def test_a_cut_drops_what_lies_behind_it() -> None:
    line = SampleLine()
    line.append(0, tone(1, 2000))
    line.cut(1000)
    line.append(1000, tone(2, 10))
    assert runs(line.take(0, 1920)) == [(1, 1000), (2, 10), (0, 910)]


def test_old_sound_is_dropped() -> None:
    line = SampleLine()
    line.append(0, tone(1, 960))
    line.append(48_000, tone(2, 960))
    line.drop_before(960)
    assert runs(line.take(0, 960)) == [(0, 960)]
    assert runs(line.take(48_000, 960)) == [(2, 960)]
