"""The life of a worker group."""

from itertools import pairwise

import pytest

from reactor_runtime.distributed.group_state import GroupEvent, GroupState, may, next_state
from reactor_runtime.errors import IllegalTransitionError

S, E = GroupState, GroupEvent


@pytest.mark.parametrize(
    ("events", "end"),
    [
        ([E.START, E.DONE, E.CALL, E.DONE, E.STOP, E.STOPPED], S.CLOSED),
        ([E.START, E.BREAK, E.STOP, E.STOPPED], S.CLOSED),
        ([E.START, E.DONE, E.CALL, E.SUSPEND, E.RESUME, E.SUSPEND, E.RESUME, E.DONE], S.READY),
        ([E.START, E.DONE, E.CALL, E.SUSPEND, E.BREAK], S.BROKEN),
        ([E.STOP, E.STOPPED], S.CLOSED),
    ],
)
def test_lives(events: list[GroupEvent], end: GroupState) -> None:
    state = S.NEW
    for event in events:
        state = next_state(state, event)
    assert state is end


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (S.NEW, E.CALL),
        (S.CALLING, E.CALL),
        (S.BROKEN, E.CALL),
        (S.CLOSED, E.START),
        (S.READY, E.RESUME),
        (S.SUSPENDED, E.CALL),
        (S.CALLING, E.STOP),
        (S.CLOSED, E.BREAK),
    ],
)
def test_what_has_no_place(state: GroupState, event: GroupEvent) -> None:
    assert not may(state, event)
    with pytest.raises(IllegalTransitionError):
        next_state(state, event)


def test_nothing_leads_out_of_the_end() -> None:
    assert not any(may(S.CLOSED, event) for event in E)
    assert all(a is not b for a, b in pairwise(S))
