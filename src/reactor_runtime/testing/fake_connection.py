"""FakeConnection: a transport with nobody at the other end but the test."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.errors import (
    ConnectionClosedError,
    MessageTooLargeError,
    SendBufferFullError,
)
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.session.connection import Connection, ConnectionListener
from reactor_runtime.wire.channel import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silence:
    for_s: float = 0.0
    is_broken_when_asked: bool = True


class FakeConnection(Connection):
    """Implements ``Connection``: keeps what was sent, and says to the session what a test says.

    Args:
        listener: The session.
        connection_id: Its number; the client's id is made from it.
        has_control: Whether the client opened a control channel.
        max_message_bytes: The largest frame the client takes.

    Attributes:
        sent: Every frame sent to the client, in order.
        playing: Names of the output tracks that were resumed and not paused.
        probes: How often the client was asked for a sign of life.
        is_full: Whether the channel takes no more frames.
        is_closed: Whether anybody has closed it.
    """

    def __init__(
        self,
        listener: ConnectionListener,
        connection_id: int = 5000,
        *,
        has_control: bool = True,
        max_message_bytes: int = 262_144,
    ) -> None:
        self.connection_id = connection_id
        self.client_id = f"client-{connection_id}"
        self.sent: list[tuple[Channel, bytes | str]] = []
        self.playing: set[str] = set()
        self.probes = 0
        self.is_full, self.is_closed = False, False
        self._listener = listener
        self._shape = (has_control, max_message_bytes)
        self._silence = _Silence()

    # --- what the session asks for ---

    @property
    def has_control(self) -> bool:
        """Whether the client opened a control channel."""
        return self._shape[0]

    @property
    def max_message_bytes(self) -> int:
        """The largest frame the client takes."""
        return self._shape[1]

    @property
    def silent_for_s(self) -> float:
        """Seconds since anything arrived, as the test set it."""
        return self._silence.for_s

    def send(self, channel: Channel, frame: bytes | str, *, can_drop: bool = False) -> None:
        """Keep one frame."""
        if self.is_full and can_drop:
            raise SendBufferFullError(self.connection_id)
        if self.is_closed or self.is_full:
            raise ConnectionClosedError(self.connection_id, "full" if self.is_full else "closed")
        size_bytes = len(frame.encode()) if isinstance(frame, str) else len(frame)
        if size_bytes > self.max_message_bytes:
            raise MessageTooLargeError(size_bytes, self.max_message_bytes)
        self.sent.append((channel, frame))

    def resume_track(self, track: str) -> bool:
        """Note that *track* is wanted."""
        self.playing.add(track)
        return True

    def pause_track(self, track: str) -> bool:
        """Note that *track* is not wanted."""
        self.playing.discard(track)
        return True

    async def probe(self, timeout_s: float) -> bool:
        """Answer at once, or stay silent for *timeout_s*."""
        self.probes += 1
        if self._silence.is_broken_when_asked:
            return True
        await asyncio.sleep(timeout_s)
        return False

    def stats(self) -> Mapping[str, Any]:
        """Return no figures."""
        return {}

    async def close(self, reason: str = "closed by the server") -> None:
        """Close it; the session hears of it once."""
        self.vanish(reason)

    # --- what the client does ---

    def open(self) -> None:
        """Connect."""
        self._listener.opened(self)

    def say(self, channel: Channel, frame: bytes | str) -> None:
        """Send one frame to the session."""
        self._listener.received(self, channel, frame)

    def show(self, track: str, frame: InputFrame) -> None:
        """Send one frame of an input track."""
        self._listener.media_received(self, track, frame)

    def fall_silent(self, seconds: float = 5.0, *, answers: bool = False) -> None:
        """Look as if nothing had arrived for *seconds*; *answers* when asked, or does not."""
        self._silence = _Silence(for_s=seconds, is_broken_when_asked=answers)

    def hear_from(self) -> None:
        """Give a sign of life below the data channels."""
        self._silence = _Silence()

    def vanish(self, reason: str = "gone") -> None:
        """Be gone."""
        if not self.is_closed:
            self.is_closed = True
            self._listener.closed(self, reason)
