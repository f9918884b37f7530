"""Client: one viewer, in whatever wire version it speaks."""

from collections import deque
from collections.abc import Callable
from functools import cache

from reactor_runtime.errors import (
    ConnectionClosedError,
    MessageTooLargeError,
    ReactorError,
    SendBufferFullError,
    WireError,
)
from reactor_runtime.log import get_logger
from reactor_runtime.session.connection import Connection
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.tally import Tally
from reactor_runtime.token_bucket import TokenBucket
from reactor_runtime.wire import messages as say
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.codec import Codec, Encoded, WireVersion, version_of

log = get_logger(__name__)

_EXCUSE = "cannot be sent to you"

Shared = dict[WireVersion, Encoded | None]


@cache
def codec_of(version: WireVersion) -> Codec:
    """Return the codec of *version*; protobuf loads when it is first asked for."""
    if version is WireVersion.V0:
        from reactor_runtime.wire.json_codec import JsonCodec

        return JsonCodec()
    from reactor_runtime.wire.protobuf_codec import ProtobufCodec

    return ProtobufCodec()


class Client:
    """One open connection and the version it speaks.

    The first frame of a client decides its version for good; until then messages to it are kept,
    the newest ones. A client without a control channel speaks v0: it may be silent for long.

    Attributes:
        connection: How it is reached.
        last_frame_at: Monotonic seconds of its last sign of life.
        requests: How many questions it may ask.
        has_erred: It has sent a frame that nobody could read.

    Args:
        connection: How it is reached.
        now: Monotonic seconds.
        settings: How much is kept for it and taken from it.
        on_lost: Called, with a reason, when it takes no more frames.
        tally: Where its frames are counted.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        now: float,
        settings: SessionSettings,
        on_lost: Callable[["Client", str], None],
        tally: Tally,
    ) -> None:
        self.connection = connection
        self.last_frame_at = now
        self.requests = TokenBucket(settings.requests_per_s, 2 * settings.requests_per_s, now)
        self.has_erred = False
        self._is_lost = False
        self._warned: set[str] = set()
        self._codec = None if connection.has_control else codec_of(WireVersion.V0)
        self._held: deque[say.ServerMessage] = deque(maxlen=max(1, settings.max_held_out))
        self._on_lost = on_lost
        self._tally = tally

    @property
    def client_id(self) -> str:
        """The id authors see."""
        return self.connection.client_id

    @property
    def version(self) -> WireVersion | None:
        """The version it speaks, ``None`` until it is known."""
        return None if self._codec is None else self._codec.version

    def decode(self, channel: Channel, frame: bytes | str) -> say.ClientMessage:
        """Return what *frame* says.

        Raises:
            WireError: It is no frame of this client's version.
        """
        return self._settle(version_of(frame)).decode(channel, frame)

    def guess_version(self) -> None:
        """Send what is held, before the end: a client so new says its first word in a moment.

        Clients with a control channel that speak JSON exist, but none is published.
        """
        self._settle(WireVersion.V1)

    def send(self, message: say.ServerMessage, shared: Shared | None = None) -> None:
        """Say *message*; never raises. What cannot be encoded or is too large becomes an error.

        An author's message is dropped where too much waits before it; an answer never is.

        Args:
            message: What to say; nothing is sent where its version has no form for it.
            shared: Frames of this message already made for other clients.
        """
        if self._is_lost or not self.connection.takes_messages:
            return
        if self._codec is None:
            if len(self._held) == self._held.maxlen:
                self._tally.dropped("version_unknown")
            self._held.append(message)
            return
        try:
            encoded = self._encoded(message, shared)
            if encoded is not None:
                can_drop = isinstance(message, say.Message) and not message.request_id
                self._transmit(encoded, can_drop=can_drop)
        except ConnectionClosedError as error:
            self._is_lost = True
            self._tally.dropped("connection_closed")
            self._on_lost(self, error.reason)
        except (MessageTooLargeError, WireError) as error:
            self._tally.dropped("unsendable")
            name = getattr(message, "name", type(message).__name__)
            self._warn_once(name, "message_not_sent", message=name, reason=str(error))
            if (instead := _excuse(message, error)) is not None:
                self.send(instead)

    def _settle(self, version: WireVersion) -> Codec:
        if self._codec is None:
            self._codec = codec_of(version)
            while self._held:
                self.send(self._held.popleft())
        return self._codec

    def _transmit(self, encoded: Encoded, *, can_drop: bool) -> None:
        try:
            self.connection.send(encoded.channel, encoded.frame, can_drop=can_drop)
        except SendBufferFullError:
            self._tally.dropped("client_slow")
            self._warn_once("", "messages_dropped", reason="it reads too slowly")
        else:
            self._tally.sent[encoded.channel].inc()

    def _warn_once(self, about: str, event: str, **facts: str) -> None:
        """Log *event*, the first time *about* something alone: where one is, many follow."""
        if about not in self._warned:
            self._warned.add(about)
            log.warning(event, client=self.client_id, **facts)

    def _encoded(self, message: say.ServerMessage, shared: Shared | None) -> Encoded | None:
        assert self._codec is not None
        version = self._codec.version
        if shared is None:
            return self._codec.encode(message)
        if version not in shared:
            shared[version] = self._codec.encode(message)
        return shared[version]


def _excuse(message: say.ServerMessage, error: ReactorError) -> say.ServerMessage | None:
    """Return what a client is told in place of a *message* that cannot be sent to it."""
    if _EXCUSE in getattr(message, "message", ""):  # it is one itself
        return None
    is_large = isinstance(error, MessageTooLargeError)
    text = f"{getattr(message, 'name', '') or 'the answer'} {_EXCUSE}"
    if isinstance(error, MessageTooLargeError):
        text += f": {error.size_bytes} bytes, past your limit of {error.limit_bytes}"
    request_id = getattr(message, "request_id", "")
    if isinstance(message, say.Message) and not request_id:
        return say.Failure(code="message_too_large", message=text) if is_large else None
    if isinstance(message, say.Message | say.Failure):
        return say.Failure(request_id=request_id, code="internal_error", message=text)
    if isinstance(message, say.Schema | say.ControlFailure):
        return say.ControlFailure(request_id=request_id, code="internal_error", message=text)
    return None
