"""What is wrong with an HTTP request."""

from reactor_runtime.errors.reactor_error import ReactorError


class RequestShapeError(ReactorError):
    """Raised when a request is not shaped as its route wants it: answered 422.

    Attributes:
        problems: One mapping per fault with ``type``, ``loc``, ``msg`` and ``input``.
    """

    def __init__(self, problems: list[dict[str, object]]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(f"{p.get('loc')}: {p.get('msg')}" for p in self.problems)


class BodyTooLargeError(ReactorError):
    """Raised when a request's body, or a part of it, is larger than allowed: answered 413.

    Attributes:
        what: ``body``, or the part.
        limit_bytes: The largest that is taken.
    """

    def __init__(self, what: str, limit_bytes: int) -> None:
        super().__init__(what, limit_bytes)
        self.what, self.limit_bytes = what, limit_bytes

    def __str__(self) -> str:
        return f"{self.what} is larger than {self.limit_bytes} bytes"


class BodyTooSlowError(ReactorError):
    """Raised when a request's body does not arrive in time: answered 408.

    Attributes:
        timeout_s: Seconds it had.
    """

    def __init__(self, timeout_s: float) -> None:
        super().__init__(timeout_s)
        self.timeout_s = timeout_s

    def __str__(self) -> str:
        return f"the body did not arrive within {self.timeout_s:g} s"


class TooManyRequestsError(ReactorError):
    """Raised when somebody asks too often: answered 429.

    Attributes:
        what: What is asked for.
        retry_after_s: Whole seconds after which asking again makes sense.
    """

    def __init__(self, what: str, retry_after_s: int) -> None:
        super().__init__(what, retry_after_s)
        self.what, self.retry_after_s = what, retry_after_s

    def __str__(self) -> str:
        return f"too many {self.what} in a short time; try again in {self.retry_after_s} s"
