"""Session: the occupied time of one model, and everything that may happen in it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.session.connection import Channel, Connection
from reactor_runtime.session.event_log import EventLog
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState


class Health(NamedTuple):
    """Whether the process is alive and what it is doing.

    Attributes:
        ok: The process works or is on its way to; false only when terminated.
        state: ``loading``, ``available``, ``serving`` or ``terminated``.
        detail: In plain words, for people.
    """

    ok: bool
    state: str
    detail: str


class Session:
    """One long-lived object: the state machine, who is connected, what may happen next.

    It implements ``ConnectionListener``. ``async with`` starts it (the model loads in the
    background) and closes it. Every method is called on the event loop.

    Args:
        host: Where the model runs; it must have been given *outlet*.
        stream: The output media, ``None`` for a model without output tracks.
        outlet: What *host* reports to.

    Attributes:
        events: What happened, for operators.
        on_session_end: Awaited with a reason whenever a session ends, to close what still connects.
        on_terminated: Called once, with a reason, when no session can be served any more.
    """

    def __init__(
        self,
        host: ModelHost,
        stream: LiveStream | None,
        *,
        outlet: SessionOutlet,
        settings: SessionSettings | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.events = EventLog(clock or SystemClock())
        self.on_session_end: Callable[[str], Awaitable[None]] | None = None
        self.on_terminated: Callable[[str], None] | None = None

    async def start(self) -> None:
        """Begin loading the model; returns at once, ``health`` tells how it goes."""
        raise NotImplementedError

    async def close(self) -> None:
        """End the session (clients told first), stop the host and every task. Idempotent."""
        raise NotImplementedError

    async def start_session(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Start a session and return its descriptor.

        Raises:
            StartRefusedError: The body asks for what cannot be given.
            SessionStateError: Another session is in the way.
            SessionUnavailableError: The model is loading, or gone.
        """
        raise NotImplementedError

    async def stop_session(self, reason: str = "", moderate: bool = False) -> None:
        """End the session; clients are told first.

        Raises:
            SessionStateError: There is nothing to stop, or it is closing already.
            SessionUnavailableError: The model is loading, or gone.
        """
        raise NotImplementedError

    def require(self, session_id: str) -> None:
        """Check that *session_id* names the running session.

        Raises:
            NoSessionError: None is running.
            UnknownSessionError: Another one is.
        """
        raise NotImplementedError

    @property
    def state(self) -> SessionState:
        """The state the session is in."""
        raise NotImplementedError

    def descriptor(self) -> dict[str, Any]:
        """Return the session's descriptor, in any state."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """Return the model's OpenAPI document, empty until the model has loaded."""
        raise NotImplementedError

    def health(self) -> Health:
        """Return whether the process is alive and what it is doing."""
        raise NotImplementedError

    def opened(self, connection: Connection) -> None:
        """A peer is connected and every channel it needs is open."""

    def received(self, connection: Connection, channel: Channel, frame: bytes | str) -> None:
        """One frame arrived. Never raises."""

    def media_received(self, connection: Connection, track: str, frame: InputFrame) -> None:
        """One decoded inbound frame arrived. Never raises, never blocks."""

    def wants_media(self, connection: Connection, track: str) -> bool:
        """Whether inbound frames of *track* from this connection are of use."""
        return False

    def closed(self, connection: Connection, reason: str) -> None:
        """The connection is gone, whoever closed it."""
