"""What is wrong with a frame of bytes, an offer, or a connection."""

from reactor_runtime.errors.reactor_error import ReactorError


class WireError(ReactorError):
    """Raised when a frame is not what the wire protocol says; it is dropped, never fatal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class MessageTooLargeError(ReactorError):
    """Raised at ``send`` when a message is larger than whoever it is for takes.

    Attributes:
        size_bytes: Size of the message as a frame.
        limit_bytes: The largest frame the receiver takes.
        message: The message's name on the wire, where it is known.
    """

    def __init__(self, size_bytes: int, limit_bytes: int, message: str = "") -> None:
        super().__init__(size_bytes, limit_bytes, message)
        self.size_bytes, self.limit_bytes, self.message = size_bytes, limit_bytes, message

    def __str__(self) -> str:
        what = f"the message {self.message!r}" if self.message else "a message"
        return (
            f"{what} of {self.size_bytes} bytes is past the limit of {self.limit_bytes}; "
            "send it in parts"
        )


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


class SendBufferFullError(ReactorError):
    """Raised when so much waits for a peer that what nobody waits for is dropped.

    Attributes:
        connection_id: The connection's number.
    """

    def __init__(self, connection_id: int) -> None:
        super().__init__(connection_id)
        self.connection_id = connection_id

    def __str__(self) -> str:
        return f"too much waits to be sent to connection {self.connection_id}; this was dropped"


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
        retry_after_s: Whole seconds after which asking again makes sense.
    """

    retry_after_s = 5

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


class UnknownTrackError(ReactorError):
    """Raised when a publisher names an input that the model does not have: answered 404.

    Attributes:
        track: The name.
        known: The inputs there are.
    """

    def __init__(self, track: str, known: list[str]) -> None:
        super().__init__(track, known)
        self.track, self.known = track, tuple(known)

    def __str__(self) -> str:
        known = ", ".join(self.known) or "none"
        return f"the model has no input {self.track[:64]!r} (it has {known})"


class TrackTakenError(ReactorError):
    """Raised when a publisher names an input that another client feeds: answered 409.

    Attributes:
        track: The name.
    """

    def __init__(self, track: str) -> None:
        super().__init__(track)
        self.track = track

    def __str__(self) -> str:
        return f"another client feeds {self.track!r}; it is free when that one has stopped"


class FragmentError(ReactorError):
    """Raised when trickled candidates cannot be read: answered 400.

    Attributes:
        reason: What is wrong, in plain words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the SDP fragment cannot be used: {self.reason}"


class IceRestartError(ReactorError):
    """Raised when a client asks to restart ICE: answered 422."""

    def __str__(self) -> str:
        return "ICE restarts are not supported: delete this connection and offer again"


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
    """Raised when no connection comes of an accepted offer: answered 500.

    Attributes:
        connection_id: The connection's number.
        reason: What went wrong.
    """

    def __init__(self, connection_id: int, reason: str) -> None:
        super().__init__(connection_id, reason)
        self.connection_id, self.reason = connection_id, reason

    def __str__(self) -> str:
        return f"connection {self.connection_id} did not come about: {self.reason}"
