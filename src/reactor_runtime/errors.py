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
    """Raised in ``process_input``: the step is refused and asked again in some milliseconds."""

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


class UnresolvedUploadError(PayloadError):
    """Raised when an argument refers to a file whose bytes are not here."""

    code = "unresolved_upload"


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


# --- sessions and clients ----------------------------------------------------------------------


class IllegalTransitionError(ReactorError):
    """Raised when an event has no place in the session's state. A fault of ours, never a client's.

    Attributes:
        state: The state the session is in.
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


class NoSessionError(ReactorError):
    """Raised when a request needs a running session and there is none."""

    def __str__(self) -> str:
        return "No session running"


class UnknownSessionError(ReactorError):
    """Raised when a request names another session than the running one."""

    def __init__(self, session_id: str = "") -> None:
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return "Unknown session"


class WireError(ReactorError):
    """Raised when a frame is not what the wire protocol says; it is dropped, never fatal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class MessageTooLargeError(ReactorError):
    """Raised when a frame is larger than its receiver takes.

    Attributes:
        size_bytes: Size of the frame.
        limit_bytes: The largest frame the receiver takes.
    """

    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(size_bytes, limit_bytes)
        self.size_bytes, self.limit_bytes = size_bytes, limit_bytes

    def __str__(self) -> str:
        return f"a message of {self.size_bytes} bytes is past the limit of {self.limit_bytes}"


class ConnectionClosedError(ReactorError):
    """Raised when a frame cannot be sent: the channel is closed, or full because nobody reads.

    Attributes:
        connection_id: The connection's number.
        reason: What is the matter with it.
    """

    def __init__(self, connection_id: int, reason: str = "closed") -> None:
        super().__init__(connection_id, reason)
        self.connection_id, self.reason = connection_id, reason

    def __str__(self) -> str:
        return f"connection {self.connection_id} takes no more frames: {self.reason}"


class OfferError(ReactorError):
    """Raised when a WebRTC offer cannot be answered: answered 422.

    Attributes:
        reason: What is wrong with it, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the offer cannot be answered: {self.reason}"


class ConnectionIdError(ReactorError):
    """Raised when a connection id is outside the range clients may use: answered 422.

    Attributes:
        connection_id: The id found.
    """

    def __init__(self, connection_id: int) -> None:
        super().__init__(connection_id)
        self.connection_id = connection_id

    def __str__(self) -> str:
        return f"connection id {self.connection_id} is outside 1001-9999"


class UnknownConnectionError(ReactorError):
    """Raised when nobody has made an offer under a connection id: answered 404.

    Attributes:
        connection_id: The id found.
    """

    def __init__(self, connection_id: int) -> None:
        super().__init__(connection_id)
        self.connection_id = connection_id

    def __str__(self) -> str:
        return f"no offer was made for connection {self.connection_id}"


class ConnectionLimitError(ReactorError):
    """Raised when there is no place for another connection: answered 503.

    Attributes:
        limit: How many there may be.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"all {self.limit} connections are taken"


class NoNetworkError(ReactorError):
    """Raised when this host has no address the peer could reach: answered 503.

    Attributes:
        reason: What is missing and what to do, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class PortTakenError(ReactorError):
    """Raised when the one UDP port asked for is in use: answered 409.

    Attributes:
        port: The port.
    """

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.port = port

    def __str__(self) -> str:
        return f"UDP port {self.port} is in use"


class NegotiationError(ReactorError):
    """Raised when an accepted offer could not be answered after all: answered 500.

    Attributes:
        connection_id: The connection's number.
        reason: What went wrong.
    """

    def __init__(self, connection_id: int, reason: str) -> None:
        super().__init__(connection_id, reason)
        self.connection_id, self.reason = connection_id, reason

    def __str__(self) -> str:
        return f"connection {self.connection_id} could not be negotiated: {self.reason}"


# --- what a person who sets the runtime up got wrong ------------------------------------------


class ConfigurationError(ReactorError):
    """Raised for a mistake in a manifest, a flag or an environment variable; status 2."""


class ManifestError(ConfigurationError):
    """Raised when a manifest cannot be used.

    Attributes:
        path: The file.
        key: The dotted key, ``None`` when the whole file is wrong.
        found: What stands there, in words.
        wanted: What should stand there, or what to do.
        line: Line in the file, from 1; ``None`` when there is none.
    """

    def __init__(
        self, path: str, key: str | None, found: str, wanted: str, line: int | None = None
    ) -> None:
        super().__init__(path, key, found, wanted, line)
        self.path, self.key, self.found, self.wanted, self.line = path, key, found, wanted, line

    def __str__(self) -> str:
        place = f"{self.path}, line {self.line}" if self.line else self.path
        subject = f"{self.key}: " if self.key else ""
        return f"{place}: {subject}found {self.found}; wanted {self.wanted}"


class SettingError(ConfigurationError):
    """Raised when a flag or an environment variable has a wrong value.

    Attributes:
        source: The flag or variable, as a person writes it.
        found: What it holds, in words; never a secret.
        wanted: What it should hold.
    """

    def __init__(self, source: str, found: str, wanted: str) -> None:
        super().__init__(source, found, wanted)
        self.source, self.found, self.wanted = source, found, wanted

    def __str__(self) -> str:
        return f"{self.source}: found {self.found}; wanted {self.wanted}"


class ModelImportError(ConfigurationError):
    """Raised when ``module:Class`` does not lead to a model class.

    Attributes:
        model: The reference as it was written.
        reason: What went wrong.
        place: The author's file and line, ``None`` when no line of theirs is at fault.
        advice: What to do or what was tried; may be empty.
    """

    def __init__(self, model: str, reason: str, place: str | None = None, advice: str = "") -> None:
        super().__init__(model, reason, place, advice)
        self.model, self.reason, self.place, self.advice = model, reason, place, advice

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        advice = f" ({self.advice})" if self.advice else ""
        return f"cannot import {self.model}: {place}{self.reason}{advice}"


class NotAvailableError(ConfigurationError):
    """Raised when a setting is right but this version cannot do what it asks for.

    Attributes:
        what: The setting and its value.
        cure: What to set instead.
    """

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what, cure)
        self.what, self.cure = what, cure

    def __str__(self) -> str:
        return f"{self.what} is not available in this version; {self.cure}"


class AddressError(ReactorError):
    """Raised when the server cannot listen where it was told; status 3.

    Attributes:
        host: The name or address.
        port: The TCP port.
        reason: Why not, and what to do.
    """

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(host, port, reason)
        self.host, self.port, self.reason = host, port, reason

    def __str__(self) -> str:
        return f"cannot listen on {self.host} port {self.port}: {self.reason}"


# --- HTTP requests -----------------------------------------------------------------------------


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
