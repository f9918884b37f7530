"""The states of the occupied time, the events that move it, and the table of moves."""

from enum import StrEnum

from reactor_runtime.errors import IllegalTransitionError


class SessionState(StrEnum):
    """What the one session of this process is doing. The values are public."""

    CREATED = "created"
    READY = "ready"
    WAITING = "waiting"
    STREAMING = "streaming"
    ORPHANED = "orphaned"
    CLOSING = "closing"
    TERMINATED = "terminated"

    @property
    def is_running(self) -> bool:
        """Whether a session exists that clients may join."""
        return self in _RUNNING

    @property
    def is_clientless(self) -> bool:
        """Whether a session exists that nobody watches."""
        return self in (SessionState.WAITING, SessionState.ORPHANED)


_RUNNING = (SessionState.WAITING, SessionState.STREAMING, SessionState.ORPHANED)


class SessionEvent(StrEnum):
    """What moves the session."""

    INITIALIZING = "initializing"
    INITIALIZATION_SUCCESS = "initialization_success"
    INITIALIZATION_FAIL = "initialization_fail"
    START_SESSION = "start_session"
    CONNECTION_OPENED = "connection_opened"
    CONNECTION_CLOSED = "connection_closed"
    LAST_CONNECTION_CLOSED = "last_connection_closed"
    TIMEOUT = "timeout"
    STOP_SESSION = "stop_session"
    CLEANUP_COMPLETE = "cleanup_complete"
    EVICTION = "eviction"

    @property
    def public_name(self) -> str:
        """The name operators see: the last connection closes like any other."""
        if self is SessionEvent.LAST_CONNECTION_CLOSED:
            return SessionEvent.CONNECTION_CLOSED.value
        return self.value


class EndReason(StrEnum):
    """Why a session ended."""

    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    EVICTED = "evicted"
    MODERATED = "moderated"
    ERROR = "error"
    START_REFUSED = "start_refused"


_MOVES: dict[tuple[SessionState, SessionEvent], SessionState] = {
    (SessionState.CREATED, SessionEvent.INITIALIZING): SessionState.CREATED,
    (SessionState.CREATED, SessionEvent.INITIALIZATION_SUCCESS): SessionState.READY,
    (SessionState.CREATED, SessionEvent.INITIALIZATION_FAIL): SessionState.TERMINATED,
    (SessionState.READY, SessionEvent.START_SESSION): SessionState.WAITING,
    (SessionState.WAITING, SessionEvent.CONNECTION_OPENED): SessionState.STREAMING,
    (SessionState.ORPHANED, SessionEvent.CONNECTION_OPENED): SessionState.STREAMING,
    (SessionState.STREAMING, SessionEvent.CONNECTION_OPENED): SessionState.STREAMING,
    (SessionState.STREAMING, SessionEvent.CONNECTION_CLOSED): SessionState.STREAMING,
    (SessionState.STREAMING, SessionEvent.LAST_CONNECTION_CLOSED): SessionState.ORPHANED,
    (SessionState.WAITING, SessionEvent.TIMEOUT): SessionState.CLOSING,
    (SessionState.ORPHANED, SessionEvent.TIMEOUT): SessionState.CLOSING,
    **{(state, SessionEvent.STOP_SESSION): SessionState.CLOSING for state in _RUNNING},
    (SessionState.CLOSING, SessionEvent.CLEANUP_COMPLETE): SessionState.READY,
    **{
        (state, SessionEvent.EVICTION): SessionState.TERMINATED
        for state in SessionState
        if state is not SessionState.TERMINATED
    },
}


def next_state(state: SessionState, event: SessionEvent) -> SessionState:
    """Return the state *event* leads to.

    Raises:
        IllegalTransitionError: *event* has no place in *state*.
    """
    if (state, event) not in _MOVES:
        raise IllegalTransitionError(state, event)
    return _MOVES[state, event]
