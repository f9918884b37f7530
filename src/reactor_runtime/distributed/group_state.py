"""The life of a worker group as a table."""

from enum import Enum

from reactor_runtime.errors import IllegalTransitionError


class GroupState(Enum):
    """What a worker group is doing."""

    NEW = "not started"
    STARTING = "starting"
    READY = "ready"
    CALLING = "busy with a call"
    SUSPENDED = "waiting to be resumed"
    STOPPING = "shutting down"
    BROKEN = "broken"
    CLOSED = "shut down"

    __hash__ = object.__hash__  # members are one of a kind; Enum's own way takes a call


class GroupEvent(Enum):
    """What moves it."""

    START = "start"
    CALL = "call"
    RESUME = "resume"
    DONE = "done"
    SUSPEND = "suspend"
    BREAK = "break"
    STOP = "stop"
    STOPPED = "stopped"

    __hash__ = object.__hash__


_LIVING = (GroupState.READY, GroupState.CALLING, GroupState.SUSPENDED, GroupState.STARTING)
_MOVES = {
    (GroupState.NEW, GroupEvent.START): GroupState.STARTING,
    (GroupState.STARTING, GroupEvent.DONE): GroupState.READY,
    (GroupState.READY, GroupEvent.CALL): GroupState.CALLING,
    (GroupState.SUSPENDED, GroupEvent.RESUME): GroupState.CALLING,
    (GroupState.CALLING, GroupEvent.DONE): GroupState.READY,
    (GroupState.CALLING, GroupEvent.SUSPEND): GroupState.SUSPENDED,
    **{(state, GroupEvent.BREAK): GroupState.BROKEN for state in _LIVING},
    (GroupState.NEW, GroupEvent.STOP): GroupState.STOPPING,
    (GroupState.READY, GroupEvent.STOP): GroupState.STOPPING,
    (GroupState.SUSPENDED, GroupEvent.STOP): GroupState.STOPPING,
    (GroupState.BROKEN, GroupEvent.STOP): GroupState.STOPPING,
    (GroupState.STOPPING, GroupEvent.STOPPED): GroupState.CLOSED,
}


def next_state(state: GroupState, event: GroupEvent) -> GroupState:
    """Return the state *event* leads to, or raise ``IllegalTransitionError``."""
    if (state, event) not in _MOVES:
        raise IllegalTransitionError(state.value, event.value)
    return _MOVES[state, event]


def may(state: GroupState, event: GroupEvent) -> bool:
    """Return whether *event* has a place in *state*."""
    return (state, event) in _MOVES
