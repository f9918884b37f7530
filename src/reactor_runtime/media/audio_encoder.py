"""AudioEncoder: 20 ms of 48 kHz stereo become one Opus packet."""

from fractions import Fraction
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.sample_line import RATE

PACKET_SAMPLES = RATE // 50
_OPTIONS = {"application": "audio", "frame_duration": "20", "compression_level": "5"}


class AudioEncoder:
    """One open Opus encoder. Not for two threads at a time.

    Args:
        bitrate: Bits per second.
    """

    def __init__(self, bitrate: int) -> None:
        self._context: Any = av.CodecContext.create("libopus", "w")
        self._context.format = "s16"
        self._context.layout = "stereo"
        self._context.sample_rate = RATE
        self._context.bit_rate = bitrate
        self._context.time_base = Fraction(1, RATE)
        self._context.options = dict(_OPTIONS)

    def encode(self, samples: NDArray[np.int16], position: int) -> bytes:
        """Return the packet of *samples*, int16 ``(960, 2)``, that begin at *position*."""
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = RATE, position, Fraction(1, RATE)
        return b"".join(bytes(packet) for packet in self._context.encode(frame))
