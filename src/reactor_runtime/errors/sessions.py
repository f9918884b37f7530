"""What a session refuses."""

from reactor_runtime.errors.reactor_error import ReactorError


class IllegalTransitionError(ReactorError):
    """Raised when an event has no place in a state: of a session, a worker group or a job's task.

    Attributes:
        state: The state it is in.
        event: What was tried.
    """

    def __init__(self, state: str, event: str) -> None:
        super().__init__(state, event)
        self.state, self.event = state, event

    def __str__(self) -> str:
        return f"{self.event} has no place in state {self.state}"


class SessionStateError(ReactorError):
    """Raised when a request does not fit the session's state: wait, or stop the session first.

    Attributes:
        state: The state the session is in.
        reason: What is in the way, in plain words.
    """

    def __init__(self, state: str, reason: str) -> None:
        super().__init__(state, reason)
        self.state, self.reason = state, reason

    def __str__(self) -> str:
        return self.reason


class SessionUnavailableError(ReactorError):
    """Raised when no session can be served now.

    Attributes:
        reason: Why, in plain words.
        retry_after_s: Whole seconds after which asking again makes sense, ``None`` for never.
    """

    def __init__(self, reason: str, retry_after_s: int | None = None) -> None:
        super().__init__(reason, retry_after_s)
        self.reason, self.retry_after_s = reason, retry_after_s

    def __str__(self) -> str:
        return self.reason


class StartRefusedError(ReactorError):
    """Raised when a start asks for something that cannot be given; the state is untouched.

    Attributes:
        key: The offending key of the start body, ``None`` for the body as a whole.
        reason: What is wrong with it.
    """

    def __init__(self, key: str | None, reason: str) -> None:
        super().__init__(key, reason)
        self.key, self.reason = key, reason

    def __str__(self) -> str:
        return f"{self.key}: {self.reason}" if self.key else self.reason


class ClipRefusedError(ReactorError):
    """Raised when there can be no clip.

    Attributes:
        reason: Why, in the words the client reads.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class NoSessionError(ReactorError):
    """Raised when a request needs a running session and there is none.

    Attributes:
        why: What ended the last one, where that was a failure.
    """

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why

    def __str__(self) -> str:
        return f"No session running: {self.why}" if self.why else "No session running"


class UnknownSessionError(ReactorError):
    """Raised when a request names another session than the running one."""

    def __init__(self, session_id: str = "") -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return "Unknown session"
