import itertools

import pytest

from reactor_runtime.media.key_requests import KeyRequests


@pytest.fixture
def keys() -> KeyRequests:
    return KeyRequests()


def serve(keys: KeyRequests) -> float:
    """Make the key frame that is due and return its time."""
    due = keys.due
    assert due is not None
    keys.made(due)
    return due


def test_a_join_is_served_at_once(keys: KeyRequests) -> None:
    assert keys.due is None
    keys.ask("a", 10.0, urgent=True)
    assert serve(keys) == 10.0
    assert keys.due is None


def test_joins_within_a_tenth_of_a_second_share_a_key_frame(keys: KeyRequests) -> None:
    keys.ask("a", 10.0, urgent=True)
    serve(keys)
    keys.ask("b", 10.03, urgent=True)
    keys.ask("c", 10.09, urgent=True)
    assert serve(keys) == pytest.approx(10.1)
    assert keys.due is None


def test_one_viewer_cannot_be_urgent_all_the_time(keys: KeyRequests) -> None:
    keys.ask("a", 10.0, urgent=True)
    serve(keys)
    keys.ask("a", 10.2, urgent=True)
    assert serve(keys) == pytest.approx(10.5)


def test_a_viewer_gets_one_in_two_seconds_doubling_to_eight_while_it_repeats(
    keys: KeyRequests,
) -> None:
    served, now = [], 10.0
    while now < 50:
        keys.ask("a", now, urgent=False)
        if keys.due is not None and keys.due <= now:
            keys.made(now)
            served.append(now)
        now += 0.25
    gaps = [b - a for a, b in itertools.pairwise(served)]
    assert served[0] == 10.0
    assert gaps[:3] == [2.0, 4.0, 8.0]
    assert all(gap == 8.0 for gap in gaps[2:])


def test_a_quiet_viewer_begins_again_at_two_seconds(keys: KeyRequests) -> None:
    keys.ask("a", 10.0, urgent=False)
    serve(keys)
    keys.ask("a", 12.5, urgent=False)
    serve(keys)
    keys.ask("a", 60.0, urgent=False)
    serve(keys)
    keys.ask("a", 61.0, urgent=False)
    assert serve(keys) == 62.0


def test_the_stream_gives_one_a_second_to_reports(keys: KeyRequests) -> None:
    served = []
    for viewer in range(20):
        keys.ask(viewer, 10.0 + viewer * 0.05, urgent=False)
        if keys.due is not None and keys.due <= 10.0 + viewer * 0.05:
            served.append(serve(keys))
    served.append(serve(keys))
    assert served == [10.0, 11.0]
    assert keys.due is None


def test_a_report_that_must_wait_is_kept(keys: KeyRequests) -> None:
    keys.made(10.0)
    keys.ask("a", 10.2, urgent=False)
    assert keys.due == 11.0


def test_any_key_frame_serves_everyone(keys: KeyRequests) -> None:
    keys.made(10.0)
    keys.ask("a", 10.2, urgent=False)
    keys.ask("b", 10.3, urgent=True)
    assert serve(keys) == 10.3
    assert keys.due is None


def test_who_left_or_was_served_already_owes_nothing(keys: KeyRequests) -> None:
    keys.ask("a", 10.0, urgent=True)
    keys.ask("b", 10.0, urgent=False)
    keys.settle("a")
    assert keys.due == 10.0
    keys.forget("b")
    assert keys.due is None
