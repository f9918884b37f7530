"""What fails an author's test."""

from reactor_runtime.errors.reactor_error import ReactorError


class WaitTimeoutError(ReactorError):
    """Raised when what a test waited for did not come within its deadline.

    Attributes:
        waited_for: What that was.
        timeout_s: The seconds it had.
        seen: What was seen instead: the session, its clients, the log, where the model is.
    """

    def __init__(self, waited_for: str, timeout_s: float, seen: str = "") -> None:
        super().__init__(waited_for, timeout_s, seen)
        self.waited_for, self.timeout_s, self.seen = waited_for, timeout_s, seen

    def __str__(self) -> str:
        return f"no {self.waited_for} within {self.timeout_s:g} s\n{self.seen}".rstrip()


class ClientGoneError(ReactorError):
    """Raised when a test asks something of a client that is not connected any more.

    Attributes:
        client_id: Which client.
        waited_for: What was wanted of it.
        reason: Why its connection ended.
        seen: What was seen until then.
    """

    def __init__(self, client_id: str, waited_for: str, reason: str, seen: str = "") -> None:
        super().__init__(client_id, waited_for, reason, seen)
        self.client_id, self.waited_for = client_id, waited_for
        self.reason, self.seen = reason, seen

    def __str__(self) -> str:
        text = f"no {self.waited_for}: {self.client_id} is gone ({self.reason})"
        return f"{text}\n{self.seen}".rstrip()


class ModelFailedError(ReactorError):
    """Raised when a model under test failed: as it loaded, or later and no test looked at it.

    Attributes:
        reason: What happened.
        seen: What was seen until then.
    """

    def __init__(self, reason: str, seen: str = "") -> None:
        super().__init__(reason, seen)
        self.reason, self.seen = reason, seen

    def __str__(self) -> str:
        return f"{self.reason}\n{self.seen}".rstrip()
