"""What is wrong with a payload, a message, a frame, or a model that does not load."""

from typing import Self

from reactor_runtime.errors.reactor_error import ReactorError


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


class UnresolvedUploadError(PayloadError):
    """Raised when arguments refer to files whose bytes are not here.

    Attributes:
        wanted: Each file's upload id, the argument that wants it, and where in there.
    """

    code = "unresolved_upload"

    def __init__(
        self,
        command: str,
        field: str | None,
        reason: str,
        wanted: tuple[tuple[str, str, str], ...] = (),
    ) -> None:
        super().__init__(command, field, reason)
        self.args = (command, field, reason, wanted)
        self.wanted = wanted

    @classmethod
    def of(
        cls,
        command: str,
        wanted: tuple[tuple[str, str, str], ...],
        why: str = "whose bytes are not here",
    ) -> Self:
        """Return the error that names the first of the files that are *wanted*."""
        _, field, where = wanted[0]
        return cls(command, field, f"{where}refers to a file {why}", wanted)

    @property
    def upload_ids(self) -> tuple[str, ...]:
        """The files, in the order in which they are wanted."""
        return tuple(dict.fromkeys(upload_id for upload_id, _, _ in self.wanted))


class MessageBodyError(ReactorError):
    """Raised when an author sends a message that JSON cannot say.

    Attributes:
        message: The message class.
        field: The offending field, with the path inside it.
        reason: What is wrong and what to send instead.
    """

    def __init__(self, message: str, field: str, reason: str) -> None:
        super().__init__(message, field, reason)
        self.message, self.field, self.reason = message, field, reason

    def __str__(self) -> str:
        return f"{self.message}.{self.field} {self.reason}"


class FrameError(ReactorError):
    """Raised at ``emit`` when an array cannot be a frame of its track.

    Attributes:
        track: The track's name.
        reason: What is wrong and what is wanted.
        shape: The shape found, empty when there is none.
        dtype: The dtype found.
    """

    def __init__(
        self, track: str, reason: str, shape: tuple[int, ...] = (), dtype: str = ""
    ) -> None:
        super().__init__(track, reason, shape, dtype)
        self.track, self.reason, self.shape, self.dtype = track, reason, shape, dtype

    def __str__(self) -> str:
        found = f" (found shape {self.shape}, dtype {self.dtype})" if self.dtype else ""
        return f"track {self.track!r}: {self.reason}{found}"


class TrackError(ReactorError):
    """Raised when a track does not exist or cannot be carried the way it was asked for.

    Attributes:
        track: The name asked for.
        reason: What is wrong.
    """

    def __init__(self, track: str, reason: str) -> None:
        super().__init__(track, reason)
        self.track, self.reason = track, reason

    def __str__(self) -> str:
        return f"track {self.track!r}: {self.reason}"


class EncoderError(ReactorError):
    """Raised when an encoder does not take a picture.

    Attributes:
        codec: Its name.
        size: Width and height of the picture.
        reason: What the encoder says.
    """

    def __init__(self, codec: str, size: tuple[int, int], reason: str) -> None:
        super().__init__(codec, size, reason)
        self.codec, self.size, self.reason = codec, size, reason

    def __str__(self) -> str:
        width, height = self.size
        return f"the {self.codec} encoder refused a picture of {width}x{height}: {self.reason}"


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


class OfflineRunError(ReactorError):
    """Raised when a model cannot be run without clients as it was asked to.

    Attributes:
        turn: The turn it came to, ``None`` where none had begun.
        reason: What is wrong, and what to do.
    """

    def __init__(self, turn: int | None, reason: str) -> None:
        super().__init__(turn, reason)
        self.turn, self.reason = turn, reason

    def __str__(self) -> str:
        return self.reason if self.turn is None else f"turn {self.turn}: {self.reason}"
