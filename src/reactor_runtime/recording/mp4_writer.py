"""Mp4Writer: pictures and sound become one fragmented MP4, H264 and AAC unless told otherwise.

Every key picture begins a fragment; without pictures, every half second of sound does. Nothing is
written twice and nothing is sought, so the sink may be anything with ``write``. FFmpeg encodes and
muxes outside the GIL.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

import av
import numpy as np
from av.video.frame import PictureType
from numpy.typing import NDArray

from reactor_runtime.media.picture import Picture
from reactor_runtime.media.sample_line import CHANNELS, RATE
from reactor_runtime.media.video_encoder import VIDEO_RATE
from reactor_runtime.recording.canvas import Canvas, Size, even

_VIDEO_BASE, _AUDIO_BASE = Fraction(1, VIDEO_RATE), Fraction(1, RATE)
_KEYS_APART = 1_000_000  # pictures: only on request
_SOUND_FRAGMENT_S = 0.5
_JITTER_SAMPLES = 2  # of rounding between seconds and samples
_FLAGS = "frag_keyframe+empty_moov+default_base_moof+skip_trailer"
# The picture is BT.601 in the range of television, whatever its size makes a player guess.
_X264 = "scenecut=0:colorprim=smpte170m:transfer=smpte170m:colormatrix=smpte170m:range=tv"


class AudioCodec(StrEnum):
    """What sound may be recorded as."""

    AAC = "aac"
    OPUS = "opus"


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoTrack:
    """The pictures of a file.

    Attributes:
        size: Width and height in pixels; odd sides become even ones.
        fps: The rate that is expected; every picture has its own time all the same.
        crf: Constant quality, 0 (lossless) to 51.
        max_bitrate: Bits per second that it may not exceed for long.
        threads: Threads of the encoder.
    """

    size: Size
    fps: float
    crf: int = 23
    max_bitrate: int = 8_000_000
    threads: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioTrack:
    """The sound of a file: 48 kHz stereo.

    Attributes:
        codec: How it is compressed.
        bitrate: Bits per second.
    """

    codec: AudioCodec = AudioCodec.AAC
    bitrate: int = 128_000


class Sink(Protocol):
    """Where the file goes."""

    def write(self, piece: bytes, /) -> int:
        """Take the next bytes."""
        ...


class Mp4Writer:
    """One file being written: pictures and sound, then ``close``. Not for two threads at a time.

    Every method raises ``av.error.FFmpegError`` when an encoder fails; the file then ends with its
    last whole fragment. Times are seconds from the start of the file, never falling.

    Args:
        sink: Where the file goes.
        video: Its pictures, ``None`` for none.
        audio: Its sound, ``None`` for none.
    """

    def __init__(self, sink: Sink, *, video: VideoTrack | None, audio: AudioTrack | None) -> None:
        options = {"movflags": _FLAGS}
        if video is None:
            options["frag_duration"] = str(int(_SOUND_FRAGMENT_S * 1_000_000))
        self._container: Any = av.open(sink, "w", format="mp4", options=options)
        self._pictures = None if video is None else _PictureStream(self._container, video)
        self._sound = None if audio is None else _SoundStream(self._container, audio)
        self._container.start_encoding()

    def picture(self, picture: Picture, at_s: float, length_s: float, *, key: bool = False) -> None:
        """Add a picture; one of another size is scaled into the file's.

        Args:
            picture: What is shown; only its pixels are read.
            at_s: When.
            length_s: For how long, if nothing follows.
            key: Whether it begins a fragment; the first one always does.
        """
        assert self._pictures is not None
        self._container.mux(self._pictures.encode(picture, at_s, length_s, key=key))

    def sound(self, samples: NDArray[np.int16], at_s: float) -> None:
        """Add sound; a gap before it is silence, what overlaps is dropped.

        Args:
            samples: int16 ``(n, 2)`` at 48 kHz.
            at_s: When it begins.
        """
        assert self._sound is not None
        self._container.mux(self._sound.encode(samples, at_s))

    def close(self) -> None:
        """End the file: what the encoders hold back and the last fragment are written."""
        for stream in (self._pictures, self._sound):
            if stream is not None:
                self._container.mux(stream.finish())
        self._container.close()


class _PictureStream:
    def __init__(self, container: Any, wanted: VideoTrack) -> None:
        size = even(wanted.size)
        self._canvas = Canvas(size)
        self._last_pts = -1
        self._stream = container.add_stream(
            "libx264",
            rate=Fraction(wanted.fps).limit_denominator(1000),
            options={
                "preset": "superfast",
                "tune": "zerolatency",
                "forced-idr": "1",
                "crf": str(wanted.crf),
                "maxrate": str(wanted.max_bitrate),
                "bufsize": str(wanted.max_bitrate),
                "x264-params": _X264,
            },
        )
        context = self._stream.codec_context
        context.width, context.height = size
        context.pix_fmt = "yuv420p"
        context.time_base = self._stream.time_base = _VIDEO_BASE
        context.gop_size, context.max_b_frames = _KEYS_APART, 0
        context.thread_count = wanted.threads

    def encode(self, picture: Picture, at_s: float, length_s: float, *, key: bool) -> list[Any]:
        frame = self._canvas.draw(picture)
        frame.pts = self._last_pts = max(round(at_s * VIDEO_RATE), self._last_pts + 1)
        frame.time_base = _VIDEO_BASE
        frame.pict_type = PictureType.I if key else PictureType.NONE
        packets: list[Any] = self._stream.encode(frame)
        for packet in packets:
            packet.duration = max(1, round(length_s * VIDEO_RATE))
        return packets

    def finish(self) -> list[Any]:
        packets: list[Any] = self._stream.encode(None)
        return packets


class _SoundStream:
    """Packets of a fixed number of samples, from sound in pieces of any length."""

    def __init__(self, container: Any, wanted: AudioTrack) -> None:
        is_aac = wanted.codec is AudioCodec.AAC
        self._stream = container.add_stream("aac" if is_aac else "libopus", rate=RATE)
        context = self._stream.codec_context
        self._format = "fltp" if is_aac else "flt"
        context.format, context.layout = self._format, "stereo"
        context.bit_rate = wanted.bitrate
        context.time_base = self._stream.time_base = _AUDIO_BASE
        self._waiting: list[NDArray[np.int16]] = []
        self._begins = self._ends = 0  # the samples that wait

    def encode(self, samples: NDArray[np.int16], at_s: float) -> list[Any]:
        ahead = round(at_s * RATE) - self._ends
        if ahead > _JITTER_SAMPLES:
            self._add(np.zeros((ahead, CHANNELS), np.int16))
        elif ahead < -_JITTER_SAMPLES:
            samples = samples[-ahead:]
        self._add(samples)
        return self._packets()

    def finish(self) -> list[Any]:
        left = -(self._ends - self._begins) % self._packet_samples
        self._add(np.zeros((left, CHANNELS), np.int16))
        return [*self._packets(), *self._heard(self._stream.encode(None))]

    @property
    def _packet_samples(self) -> int:
        return int(self._stream.codec_context.frame_size)

    def _add(self, samples: NDArray[np.int16]) -> None:
        if len(samples):
            self._waiting.append(samples)
            self._ends += len(samples)

    def _packets(self) -> list[Any]:
        size, packets = self._packet_samples, list[Any]()
        if self._ends - self._begins < size:
            return packets
        joined = np.concatenate(self._waiting).astype(np.float32) / 32768.0
        whole = len(joined) // size * size
        for start in range(0, whole, size):
            packets += self._heard(self._stream.encode(self._frame(joined[start : start + size])))
        self._waiting = [np.concatenate(self._waiting)[whole:]]
        return packets

    def _frame(self, samples: NDArray[np.float32]) -> Any:
        planar = samples.T if self._format == "fltp" else samples.reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(planar), format=self._format, layout="stereo"
        )
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._begins, _AUDIO_BASE
        self._begins += len(samples)
        return frame

    def _heard(self, packets: list[Any]) -> list[Any]:
        """Drop what only primes a decoder: it would move everything else to make room for it."""
        return [packet for packet in packets if packet.pts is None or packet.pts >= 0]
