import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.errors import IllegalTransitionError
from reactor_runtime.session.session_state import SessionEvent, SessionState, next_state

# The table of the protocol, in its own words.
TABLE = {
    ("created", "initializing"): "created",
    ("created", "initialization_success"): "ready",
    ("created", "initialization_fail"): "terminated",
    ("ready", "start_session"): "waiting",
    ("waiting", "connection_opened"): "streaming",
    ("orphaned", "connection_opened"): "streaming",
    ("streaming", "connection_opened"): "streaming",
    ("streaming", "connection_closed"): "streaming",
    ("streaming", "last_connection_closed"): "orphaned",
    ("waiting", "timeout"): "closing",
    ("orphaned", "timeout"): "closing",
    ("waiting", "stop_session"): "closing",
    ("streaming", "stop_session"): "closing",
    ("orphaned", "stop_session"): "closing",
    ("closing", "cleanup_complete"): "ready",
    ("created", "eviction"): "terminated",
    ("ready", "eviction"): "terminated",
    ("waiting", "eviction"): "terminated",
    ("streaming", "eviction"): "terminated",
    ("orphaned", "eviction"): "terminated",
    ("closing", "eviction"): "terminated",
}


@pytest.mark.parametrize("event", SessionEvent)
@pytest.mark.parametrize("state", SessionState)
def test_the_table_is_the_protocols(state: SessionState, event: SessionEvent) -> None:
    wanted = TABLE.get((state.value, event.value))
    if wanted is None:
        with pytest.raises(IllegalTransitionError):
            next_state(state, event)
    else:
        assert next_state(state, event).value == wanted


@given(st.lists(st.sampled_from(SessionEvent)))
def test_terminated_is_final(events: list[SessionEvent]) -> None:
    for event in events:
        with pytest.raises(IllegalTransitionError):
            next_state(SessionState.TERMINATED, event)


def test_the_last_connection_closes_like_any_other_in_public() -> None:
    assert SessionEvent.LAST_CONNECTION_CLOSED.public_name == "connection_closed"
    assert SessionEvent.STOP_SESSION.public_name == "stop_session"


def test_an_illegal_move_names_state_and_event() -> None:
    with pytest.raises(IllegalTransitionError) as caught:
        next_state(SessionState.READY, SessionEvent.STOP_SESSION)
    assert (caught.value.state, caught.value.event) == ("ready", "stop_session")
    assert str(caught.value) == "stop_session has no place in state ready"
