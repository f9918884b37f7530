"""Connection: what a transport must offer a session, and what it tells the session."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.wire.channel import Channel


class Connection(ABC):
    """One viewer's transport. Every method is called on the event loop.

    Attributes:
        connection_id: The integer the client knows it by (1001-9999).
        client_id: The id authors see in ``ClientInfo.id``; unique per viewer per session.
        link_prefix: What goes before the paths of links for it, where it cannot do that itself.
    """

    connection_id: int
    client_id: str
    link_prefix: str = ""

    @property
    @abstractmethod
    def has_control(self) -> bool:
        """Whether the peer opened a control channel (a v0 client with only ``data`` has none)."""

    @property
    @abstractmethod
    def max_message_bytes(self) -> int:
        """The largest frame the peer takes; 0 for one without channels."""

    @property
    def takes_messages(self) -> bool:
        """Whether messages can reach the peer: a player or publisher without an SDK takes none."""
        return self.max_message_bytes > 0

    @property
    @abstractmethod
    def silent_for_s(self) -> float:
        """Seconds since anything at all arrived; media or RTCP from one that takes no messages."""

    @abstractmethod
    def send(self, channel: Channel, frame: bytes | str, *, can_drop: bool = False) -> None:
        """Queue one frame: text for JSON, bytes for protobuf.

        Args:
            channel: Where.
            frame: What.
            can_drop: Nobody waits for it: part of the send buffer is kept for what is waited for.

        Raises:
            MessageTooLargeError: It is larger than ``max_message_bytes``.
            SendBufferFullError: It can be dropped, and there was no room for it.
            ConnectionClosedError: The channel is closed, or its send buffer is past its bound.
        """

    @abstractmethod
    def resume_track(self, track: str) -> bool:
        """Start sending an output track; ``False`` when there is none of that name."""

    @abstractmethod
    def pause_track(self, track: str) -> bool:
        """Stop sending an output track; ``False`` when there is none of that name."""

    @abstractmethod
    async def probe(self, timeout_s: float) -> bool:
        """Ask the peer for a sign of life (STUN check and heartbeat); ``False`` when none came."""

    @abstractmethod
    def stats(self) -> Mapping[str, Any]:
        """Return figures for operators: round trip, bitrate, packets lost, queue lengths."""

    @abstractmethod
    async def close(self, reason: str = "closed by the server") -> None:
        """Send what is queued, then close and release everything, within a bound.

        Idempotent; reports ``closed`` once, with *reason*.
        """


class ConnectionListener(Protocol):
    """What a connection reports to; the session implements it. Called on the event loop."""

    def opened(self, connection: Connection) -> None:
        """The peer is connected and every channel it needs is open."""
        ...

    def received(self, connection: Connection, channel: Channel, frame: bytes | str) -> None:
        """One frame arrived, in order, after ``opened``. Never raises."""
        ...

    def media_received(self, connection: Connection, track: str, frame: InputFrame) -> None:
        """One decoded inbound frame arrived. Never raises, never blocks."""
        ...

    def wants_media(self, connection: Connection, track: str) -> bool:
        """Whether inbound frames of *track* from this connection are of use (decode or drop)."""
        ...

    def failed(self, connection: Connection, reason: str) -> None:
        """The peer's offer was answered, but no connection came of it."""
        ...

    def closed(self, connection: Connection, reason: str) -> None:
        """The connection is gone, whoever closed it. Called once, if ``opened`` was."""
        ...
