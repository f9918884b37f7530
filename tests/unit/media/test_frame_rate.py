import pytest

from reactor_runtime.media.frame_rate import FrameRate


def test_the_rate_is_the_median_of_the_last_five_chunks() -> None:
    rate = FrameRate(60)
    for compute_s in (9.0, 0.05, 0.05, 0.04, 0.1, 0.05):
        rate.note(1, compute_s, None)
    assert rate.fps == pytest.approx(20)


def test_one_slow_first_chunk_is_outvoted() -> None:
    rate = FrameRate(60)
    for compute_s in (30.0, 0.1, 0.1):
        rate.note(4, compute_s, None)
    assert rate.fps == pytest.approx(40)


def test_a_pin_wins_and_lasts() -> None:
    rate = FrameRate(60)
    rate.note(1, 0.1, 24.0)
    rate.note(1, 0.1, None)
    assert rate.fps == 24


def test_no_rate_exceeds_the_limit() -> None:
    rate = FrameRate(60)
    assert rate.fps == 60
    rate.note(1, 0.0001, None)
    assert rate.fps == 60
    rate.note(1, 0.0, None)
    rate.pin(1000)
    assert rate.fps == 60


def test_a_new_session_starts_over() -> None:
    rate = FrameRate(60)
    rate.pin(10)
    rate.note(1, 0.1, None)
    rate.forget()
    assert rate.fps == 60


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="positive number"):
        FrameRate(60).pin(fps)
