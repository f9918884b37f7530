"""ChannelPair: the data and control channels of one peer."""

import asyncio
from collections.abc import Callable
from enum import StrEnum

from aiortc import RTCDataChannel

from reactor_runtime.errors import (
    ConnectionClosedError,
    MessageTooLargeError,
    SendBufferFullError,
)
from reactor_runtime.webrtc.web_rtc_settings import WebRtcSettings
from reactor_runtime.wire.channel import Channel

_DROPPABLE_SHARE = 0.75  # of the send buffer; the rest is for answers


class WantedChannels(StrEnum):
    """Which channels must be open before a connection counts as open."""

    NONE = "none"  # no section for them was offered and accepted
    DATA = "data"  # a client of the kind that opens no other
    BOTH = "both"


class ChannelPair:
    """Channels the peer opens: ``control`` by its label, every other one carries data.

    Args:
        connection_id: For errors.
        wanted: What ``opened`` waits for.
        max_message_bytes: The largest frame the peer takes; 0 where no channel is wanted.
        settings: Bounds.
        on_frame: Called with each frame that arrives.
        on_closed: Called when the peer closes its data channel: it is leaving.
    """

    def __init__(
        self,
        connection_id: int,
        wanted: WantedChannels,
        max_message_bytes: int,
        settings: WebRtcSettings,
        *,
        on_frame: Callable[[Channel, bytes | str], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._connection_id, self._wanted, self._settings = connection_id, wanted, settings
        self.max_message_bytes = 0 if wanted is WantedChannels.NONE else max_message_bytes
        self._on_frame, self._on_closed = on_frame, on_closed
        self._channels: dict[Channel, RTCDataChannel] = {}
        self._count = 0
        self._changed = asyncio.Event()

    @property
    def has_control(self) -> bool:
        """Whether the peer opened a control channel."""
        return Channel.CONTROL in self._channels

    @property
    def buffered_bytes(self) -> int:
        """Bytes that wait to be sent."""
        return sum(int(channel.bufferedAmount) for channel in self._channels.values())

    def take(self, channel: RTCDataChannel) -> None:
        """Use a channel the peer opened; one too many is closed at once."""
        if self._count >= self._settings.max_channels:
            channel.close()
            return
        self._count += 1
        kind = Channel.CONTROL if channel.label == Channel.CONTROL else Channel.DATA
        channel.on("message", lambda frame: self._on_frame(kind, frame))
        channel.on("close", lambda: self._forget(kind, channel))
        self._channels.setdefault(kind, channel)
        self._changed.set()

    def _forget(self, kind: Channel, channel: RTCDataChannel) -> None:
        self._count -= 1
        if self._channels.get(kind) is channel:
            del self._channels[kind]
            if kind is Channel.DATA:
                self._on_closed()

    async def opened(self) -> None:
        """Return once every channel this peer needs is open.

        A peer that opens no control channel within the grace time after its data channel is served
        without.
        """
        if self._wanted is WantedChannels.NONE:
            return
        while Channel.DATA not in self._channels:
            await self._next_change()
        if self._wanted is WantedChannels.DATA:
            return
        try:
            async with asyncio.timeout(self._settings.control_grace_s):
                while not self.has_control:
                    await self._next_change()
        except TimeoutError:
            return

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def send(self, kind: Channel, frame: bytes | str, *, can_drop: bool = False) -> None:
        """Queue one frame.

        Raises:
            MessageTooLargeError: It is larger than the peer takes.
            SendBufferFullError: It can be dropped, and would take room kept for what cannot.
            ConnectionClosedError: The channel is closed, or its buffer is full.
        """
        size = len(frame) if isinstance(frame, bytes) else len(frame.encode())
        if size > self.max_message_bytes:
            raise MessageTooLargeError(size, self.max_message_bytes)
        channel = self._channels.get(kind)
        if channel is None or channel.readyState != "open":
            raise ConnectionClosedError(self._connection_id, f"no open {kind} channel")
        waiting, most = channel.bufferedAmount + size, self._settings.max_send_buffer_bytes
        if can_drop and waiting > _DROPPABLE_SHARE * most:
            raise SendBufferFullError(self._connection_id)
        if waiting > most:
            raise ConnectionClosedError(self._connection_id, "the peer does not read")
        channel.send(frame)
