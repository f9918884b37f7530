"""Material for the media tests: chunks, and viewers who decode what they get."""

from collections.abc import Mapping
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from tests.waiting import until

from reactor_runtime.clock import SystemClock
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind

DECODERS = {Codec.VP8: "vp8", Codec.H264: "h264", Codec.OPUS: "libopus"}
CLOCK = SystemClock()


class Viewer:
    """Subscribed to one track: keeps what it gets and can decode it."""

    def __init__(self, stream: LiveStream, track: str, codec: Codec, rung: Rung = Rung.TOP) -> None:
        self.codec = codec
        self.frames: list[EncodedFrame] = []
        self.arrived: list[float] = []
        self.subscription = stream.subscribe(Rendition(track, codec, rung), self._take)

    def _take(self, frame: EncodedFrame) -> None:
        self.frames.append(frame)
        self.arrived.append(CLOCK.now())

    async def wait(self, count: int, within: float = 10.0) -> list[EncodedFrame]:
        """Return the frames once there are *count*."""
        await until(lambda: len(self.frames) >= count, within, lambda: f"{len(self.frames)} frames")
        return self.frames

    @property
    def keys(self) -> int:
        return sum(frame.is_key for frame in self.frames)

    def pictures(self) -> list[NDArray[np.uint8]]:
        """Return everything so far as RGB."""
        decoder: Any = av.CodecContext.create(DECODERS[self.codec], "r")
        shown = [f for each in self.frames for f in decoder.decode(av.Packet(each.data))]
        return [frame.to_ndarray(format="rgb24") for frame in shown]

    def colours(self) -> list[tuple[int, int, int]]:
        """Return the middle pixel of every picture so far."""
        middles = [each[each.shape[0] // 2, each.shape[1] // 2] for each in self.pictures()]
        return [(int(r), int(g), int(b)) for r, g, b in middles]

    def sound(self) -> NDArray[np.int16]:
        """Return everything so far as int16 ``(samples, 2)``."""
        decoder: Any = av.CodecContext.create("libopus", "r")
        decoder.sample_rate, decoder.layout = 48_000, "stereo"
        parts = [
            f.to_ndarray() for each in self.frames for f in decoder.decode(av.Packet(each.data))
        ]
        return np.concatenate(parts, axis=1).reshape(-1, 2)


def video(name: str = "main") -> Track:
    return Track(name=name, kind=TrackKind.VIDEO, direction=TrackDirection.OUT)


def audio(name: str = "voice", rate: int = 48_000) -> Track:
    return Track(name=name, kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=rate)


def plain(
    colour: tuple[int, int, int], *, frames: int = 1, size: tuple[int, int] = (64, 48)
) -> Any:
    """Return *frames* pictures of one colour, ``(T, H, W, 3)``."""
    return np.full((frames, size[1], size[0], 3), colour, np.uint8)


def make_chunk(
    video: Mapping[str, NDArray[np.uint8]] | None = None,
    audio: Mapping[str, NDArray[np.int16]] | None = None,
    **facts: Any,
) -> Chunk:
    facts = {"started_at": CLOCK.now(), "compute_s": 0.001, "pinned_fps": 25.0} | facts
    return Chunk(video=video or {}, audio=audio or {}, **facts)
