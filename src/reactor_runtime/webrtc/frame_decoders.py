"""From encoded frames of clients to the arrays models read. Used on one thread each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from reactor_runtime.media.encoded_frame import Codec

_MICROSECONDS = Fraction(1, 1_000_000)
_OPUS_RATE = Codec.OPUS.clock_rate
_MAX_SILENCE = _OPUS_RATE // 5  # longer gaps are pauses, not losses
_MAX_PIXELS = 4096 * 2304


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedInput:
    """One encoded frame of a client.

    Attributes:
        data: The bitstream.
        timestamp: 32 bits, in units of the codec's clock.
        capture_time_us: Microseconds since 1970.
    """

    data: bytes
    timestamp: int
    capture_time_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedInput:
    """One frame for a model: RGB ``uint8`` ``(H, W, 3)``, or mono ``int16`` ``(1, samples)``."""

    data: NDArray[Any]
    capture_time_us: int


class FrameDecoder(Protocol):
    """Decodes the frames of one stream, in order."""

    def decode(
        self, frame: EncodedInput, is_outdated: Callable[[], bool]
    ) -> Iterator[DecodedInput | None]:
        """Yield what *frame* completes; ``None`` for one that *is_outdated* made pointless.

        Raises:
            av.FFmpegError: The bitstream is broken.
        """
        ...


class PictureDecoder:
    """Decodes VP8 or H264."""

    def __init__(self, codec: Codec) -> None:
        self._context = av.CodecContext.create("vp8" if codec is Codec.VP8 else "h264", "r")
        self._context.thread_count = 1  # frame threads would hold pictures back
        self._context.options = {"max_pixels": str(_MAX_PIXELS)}
        self._reformatter = VideoReformatter()

    def decode(
        self, frame: EncodedInput, is_outdated: Callable[[], bool]
    ) -> Iterator[DecodedInput | None]:
        """Yield the picture in *frame*."""
        packet = av.Packet(frame.data)
        packet.pts, packet.time_base = frame.capture_time_us, _MICROSECONDS
        for picture in self._context.decode(packet):
            if is_outdated():
                yield None
                continue
            rgb = self._reformatter.reformat(picture, format="rgb24").to_ndarray()
            yield DecodedInput(data=rgb, capture_time_us=int(picture.pts or frame.capture_time_us))


class SoundDecoder:
    """Decodes Opus; short losses become silence, so that time does not shrink."""

    def __init__(self, sample_rate: int) -> None:
        self._context = av.CodecContext.create("libopus", "r")
        self._context.format, self._context.layout = "s16", "mono"
        self._context.sample_rate = _OPUS_RATE
        self._rate = sample_rate
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=sample_rate)
        self._expected: int | None = None

    def decode(
        self, frame: EncodedInput, is_outdated: Callable[[], bool]
    ) -> Iterator[DecodedInput | None]:
        """Yield the sound in *frame*."""
        gap = 0 if self._expected is None else (frame.timestamp - self._expected) & 0xFFFFFFFF
        pieces, samples = [], 0
        if 0 < gap <= _MAX_SILENCE:
            pieces.append(np.zeros((1, gap * self._rate // _OPUS_RATE), np.int16))
        for sound in self._context.decode(av.Packet(frame.data)):
            samples += sound.samples
            sound.pts = None
            pieces += [part.to_ndarray() for part in self._resampler.resample(sound)]
        self._expected = (frame.timestamp + samples) & 0xFFFFFFFF
        if pieces:
            data = np.concatenate(pieces, axis=1)
            yield DecodedInput(data=data, capture_time_us=frame.capture_time_us)


def make_decoder(codec: Codec, sample_rate: int | None) -> FrameDecoder:
    """Return a decoder for one inbound stream; *sample_rate* (Hz) is the model's, for sound."""
    return PictureDecoder(codec) if codec.is_video else SoundDecoder(sample_rate or _OPUS_RATE)
