"""Sound conversion: an author's samples at any rate become 48 kHz stereo, sample for sample.

FFmpeg's resampler keeps a few milliseconds back until more arrives, so a resampled track lies
``SoundMaker.delay`` samples later on its line: what is due is then always there.
"""

import av
import numpy as np
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

from reactor_runtime.media.sample_line import CHANNELS, RATE

_HELD_BACK = 32  # samples at the source's rate


class SoundMaker:
    """Converts the chunks of one track, as one continuous sound. Not for two threads at a time.

    Args:
        rate: Samples per second of what comes in.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._channels = 0
        self._resampler: AudioResampler | None = None

    @property
    def delay(self) -> int:
        """Samples of 48 kHz by which the converted sound may lag behind."""
        return 0 if self._rate == RATE else -(-_HELD_BACK * RATE // self._rate)

    def convert(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Return *samples*, int16 ``(channels, n)``, as a copy in ``(m, 2)`` at 48 kHz.

        More than two channels are mixed to one.
        """
        if samples.shape[0] > CHANNELS:
            samples = samples.mean(axis=0, keepdims=True).astype(np.int16)
        if self._rate != RATE and samples.shape[1]:
            samples = self._resample(samples)
        stereo = np.empty((samples.shape[1], CHANNELS), np.int16)
        stereo[:] = samples.T
        return stereo

    def reset(self) -> None:
        """Forget what was kept back: the next chunk begins a new sound."""
        self._resampler = None

    def _resample(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        channels, layout = samples.shape[0], "mono" if samples.shape[0] == 1 else "stereo"
        if self._resampler is None or channels != self._channels:
            self._resampler = AudioResampler(format="s16", layout=layout, rate=RATE)
            self._channels = channels
        packed = np.ascontiguousarray(samples.T).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(packed, format="s16", layout=layout)
        frame.sample_rate = self._rate
        parts = [each.to_ndarray() for each in self._resampler.resample(frame)]
        if not parts:
            return np.empty((channels, 0), np.int16)
        joined: NDArray[np.int16] = np.concatenate(parts, axis=1)
        return joined.reshape(-1, channels).T
