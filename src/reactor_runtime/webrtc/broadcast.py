"""Broadcast: each encoded frame of one (track, codec) packetised once for all its viewers.

All rungs of the ladder share one origin of time stamps, so that a viewer may change between them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.webrtc.packetizer import make_packetizer


class Hold(Protocol):
    """A viewer's subscription, as ``LiveStream.subscribe`` makes it."""

    def request_key(self, urgent: bool = False) -> None:
        """Ask for a key frame."""
        ...

    def close(self) -> None:
        """Get no more frames."""
        ...


class FrameSource(Protocol):
    """Where encoded frames come from: the live stream."""

    def subscribe(
        self,
        rendition: Rendition,
        sink: Callable[[EncodedFrame], None],
        *,
        urgent: bool = True,
    ) -> Hold:
        """Send the frames of *rendition* to *sink*, on the event loop, beginning with a key frame.

        Whoever has pictures is not *urgent*: it is served as one that sends a PLI.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketizedFrame:
    """One frame (or sound packet), ready to be numbered for each viewer.

    Attributes:
        payloads: Of its RTP packets; shared by all viewers and their retransmissions.
        timestamp: 32 bits.
        presented_at: Monotonic seconds.
        is_key: A viewer may start here.
        size_bytes: Of all payloads.
    """

    payloads: Sequence[bytes]
    timestamp: int
    presented_at: float
    is_key: bool
    size_bytes: int


class _Shared:
    """The frames of one rung.

    The source calls all viewers with one frame before it goes on to the next, so remembering the
    last one is enough.
    """

    def __init__(self, codec: Codec, origin: int) -> None:
        self._packetizer, self._origin = make_packetizer(codec), origin
        self._frame: EncodedFrame | None = None
        self._picture: PacketizedFrame | None = None

    def picture(self, frame: EncodedFrame) -> PacketizedFrame:
        if frame is not self._frame or self._picture is None:
            payloads = self._packetizer.packetize(frame.data)
            self._picture = PacketizedFrame(
                payloads=payloads,
                timestamp=(self._origin + frame.timestamp) & 0xFFFFFFFF,
                presented_at=frame.presented_at,
                is_key=frame.is_key,
                size_bytes=sum(map(len, payloads)),
            )
            self._frame = frame
        return self._picture


class Broadcast:
    """Shares the packetised frames of one (track, codec).

    Attributes:
        codec: Of its frames.
    """

    def __init__(self, source: FrameSource, track: str, codec: Codec) -> None:
        self._source, self._track = source, track
        self.codec = codec
        origin = random.getrandbits(32)
        self._shared = {rung: _Shared(codec, origin) for rung in Rung}

    def subscribe(
        self,
        sink: Callable[[EncodedFrame], None],
        rung: Rung = Rung.TOP,
        *,
        urgent: bool = True,
    ) -> Hold:
        """Send every frame of *rung* to *sink*, beginning with a key frame."""
        rendition = Rendition(self._track, self.codec, rung)
        return self._source.subscribe(rendition, sink, urgent=urgent)

    def picture(self, frame: EncodedFrame) -> PacketizedFrame:
        """Return *frame* packetised; the first viewer that asks pays for it."""
        return self._shared[frame.rung].picture(frame)


class Broadcasts:
    """The broadcasts of one live stream."""

    def __init__(self, source: FrameSource | None) -> None:
        self._source = source
        self._running: dict[tuple[str, Codec], Broadcast] = {}

    def of(self, track: str, codec: Codec) -> Broadcast:
        """Return the broadcast of *track* in *codec*, making it when there is none."""
        assert self._source is not None, "output tracks need a live stream"
        key = (track, codec)
        if key not in self._running:
            self._running[key] = Broadcast(self._source, track, codec)
        return self._running[key]
