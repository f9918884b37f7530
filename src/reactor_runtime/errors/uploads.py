"""What is refused of the files that clients send."""

from reactor_runtime.errors.reactor_error import ReactorError


class UploadRefusedError(ReactorError):
    """Raised when a reservation or its file cannot be right: answered 400.

    Attributes:
        reason: What is wrong, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class UnknownUploadError(ReactorError):
    """Raised when nothing, or nothing any more, is reserved there: answered 404."""

    def __str__(self) -> str:
        return "Unknown upload"


class UploadConflictError(ReactorError):
    """Raised when an id is taken, or a file is there already or on its way: answered 409.

    Attributes:
        reason: What is in the way, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class UploadLimitError(ReactorError):
    """Raised when a file is more than this server takes: answered 413.

    Attributes:
        found: What is too much, in plain words.
        limit: The most that is taken, in plain words.
        setting: What an operator can raise.
    """

    def __init__(self, found: str, limit: str, setting: str) -> None:
        super().__init__(found, limit, setting)
        self.found, self.limit, self.setting = found, limit, setting

    def __str__(self) -> str:
        return f"{self.found}; this server takes at most {self.limit} ({self.setting})"


class UploadStorageError(ReactorError):
    """Raised when there is no room for a file, or nowhere to keep it: answered 507.

    Attributes:
        reason: What is missing, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class UploadAbsentError(ReactorError):
    """Raised when the bytes of a file that somebody waits for do not come.

    Attributes:
        upload_id: Which file.
        reason: Why, in words that follow "a file that".
    """

    def __init__(self, upload_id: str, reason: str) -> None:
        super().__init__(upload_id, reason)
        self.upload_id, self.reason = upload_id, reason

    def __str__(self) -> str:
        return f"a file that {self.reason}"
