import pytest

from reactor_runtime.host.events import (
    ClientJoined,
    ClientLeft,
    CommandCalled,
    ModelEvent,
    SessionEnded,
    SessionStarted,
)
from reactor_runtime.host.occupancy import Occupancy

EMPTY = Occupancy()
LIVE = Occupancy(session_id="s")
OPEN = Occupancy(session_id="s", clients={"a": 262_144})
FULL = Occupancy(session_id="s", clients={"a": 262_144, "b": 262_144})

STARTED = SessionStarted(session_id="s", seed=1)
ENDED = SessionEnded(session_id="s", reason="")
OTHER_ENDED = SessionEnded(session_id="other", reason="")
A_JOINED, B_JOINED = (ClientJoined(client_id=c, joined_at=0.0) for c in "ab")
A_LEFT, B_LEFT = (ClientLeft(client_id=c) for c in "ab")
CALLED = CommandCalled(call_id=1, client_id="a", name="x")


@pytest.mark.parametrize(
    ("before", "event", "after", "drops"),
    [
        (EMPTY, STARTED, LIVE, False),
        (EMPTY, A_JOINED, EMPTY, False),
        (EMPTY, ENDED, EMPTY, False),
        (LIVE, A_JOINED, OPEN, False),
        (LIVE, ENDED, EMPTY, False),
        (LIVE, A_LEFT, LIVE, False),
        (OPEN, B_JOINED, FULL, False),
        (OPEN, A_JOINED, OPEN, False),
        (OPEN, B_LEFT, OPEN, False),
        (OPEN, A_LEFT, LIVE, True),
        (OPEN, ENDED, EMPTY, True),
        (OPEN, OTHER_ENDED, OPEN, False),
        (OPEN, CALLED, OPEN, False),
        (OPEN, STARTED, LIVE, True),
        (FULL, B_LEFT, OPEN, False),
        (FULL, ENDED, EMPTY, True),
    ],
)
def test_events_move_it(
    before: Occupancy, event: ModelEvent, after: Occupancy, drops: bool
) -> None:
    assert before.after(event) == after
    assert before.drops_at(event) is drops


def test_it_is_open_with_a_session_and_a_client() -> None:
    assert [o.is_open for o in (EMPTY, LIVE, OPEN, FULL)] == [False, False, True, True]
    assert OPEN.without_clients() == LIVE
