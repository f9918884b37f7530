"""Every exception the runtime raises on purpose, in one tree.

The class tells the caller what to do, attributes tell it about what, ``__str__`` tells a person.
Raw arguments go to ``super().__init__`` so that every error survives pickling.
"""


class ReactorError(Exception):
    """Base of everything the runtime raises on purpose."""


# --- what an author raises -------------------------------------------------------------------


class CommandError(ReactorError):
    """Raised by a command handler: the caller gets exactly this code and message."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class ApplicationError(ReactorError):
    """Raised in ``process_input``: this step is refused and asked again a few milliseconds later."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason or "the step was refused"


class BufferClosed(ReactorError):  # noqa: N818 - a published name
    """Raised by an input buffer that will never hold another frame; ends a turn normally."""

    def __init__(self, track: str = "") -> None:
        super().__init__(track)
        self.track = track

    def __str__(self) -> str:
        return f"input track {self.track!r} is closed" if self.track else "the input is closed"


# --- what the runtime raises ------------------------------------------------------------------


class PayloadError(ReactorError):
    """Raised when a command's payload does not fit its declaration.

    Attributes:
        command: The command's wire name.
        field: The offending argument, ``None`` when the call itself is wrong.
        reason: What is wrong, in plain words.
    """

    code = "invalid_command"

    def __init__(self, command: str, field: str | None, reason: str) -> None:
        super().__init__(command, field, reason)
        self.command, self.field, self.reason = command, field, reason

    def __str__(self) -> str:
        where = f"{self.command}.{self.field}" if self.field else self.command
        return f"{where}: {self.reason}"


class FrameError(ReactorError):
    """Raised at ``emit`` when an array cannot be a frame of its track.

    Attributes:
        track: The track's name.
        reason: What is wrong and what is wanted.
        shape: The shape found, empty when there is none.
        dtype: The dtype found.
    """

    def __init__(self, track: str, reason: str, shape: tuple[int, ...] = (), dtype: str = "") -> None:
        super().__init__(track, reason, shape, dtype)
        self.track, self.reason, self.shape, self.dtype = track, reason, shape, dtype

    def __str__(self) -> str:
        found = f" (found shape {self.shape}, dtype {self.dtype})" if self.dtype else ""
        return f"track {self.track!r}: {self.reason}{found}"


class HostClosedError(ReactorError):
    """Raised when an event is posted to a host that has failed or was stopped."""

    def __init__(self, reason: str = "stopped") -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the model host takes no more events: {self.reason}"


class ModelLoadError(ReactorError):
    """Raised when a model cannot be constructed, loaded or warmed up.

    Attributes:
        model: The class as ``module:Class``.
        phase: ``construct``, ``load`` or ``warmup``.
        reason: The author's exception as text.
    """

    def __init__(self, model: str, phase: str, reason: str) -> None:
        super().__init__(model, phase, reason)
        self.model, self.phase, self.reason = model, phase, reason

    def __str__(self) -> str:
        return f"{self.model} failed in {self.phase}: {self.reason}"
