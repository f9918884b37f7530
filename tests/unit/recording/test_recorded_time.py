import pytest

from reactor_runtime.recording.recorded_time import RecordedTime


def test_it_begins_with_what_is_shown_first_and_passes_while_it_is_open() -> None:
    time = RecordedTime()
    time.run_from(100.0)
    assert (time.has_begun, time.at(100.0), time.now(101.0)) == (False, None, 0.0)
    time.open()
    assert time.is_open
    assert time.at(100.0) is None
    time.run_from(100.0)
    time.run_from(105.0)  # it runs already
    assert (time.has_begun, time.at(100.0), time.now(103.0)) == (True, 0.0, 3.0)


def test_a_rest_takes_no_time() -> None:
    time = RecordedTime()
    time.open()
    time.run_from(10.0)
    assert time.rest(13.5) == 3.5
    assert (time.is_open, time.at(14.0), time.now(99.0)) == (False, None, 3.5)
    assert time.rest(99.0) == 3.5
    time.open()
    time.run_from(200.0)
    assert time.at(201.0) == pytest.approx(4.5)
    assert time.now(199.0) == 3.5  # a picture may be a little ahead of the clock


def test_once_shut_nothing_more_is_taken() -> None:
    time = RecordedTime()
    time.open()
    time.run_from(10.0)
    time.shut()
    assert not time.is_open
    assert time.rest(12.0) == 2.0
