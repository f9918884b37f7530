"""Tones to send and to recognise."""

import numpy as np
from numpy.typing import NDArray

RATE = 48_000


def tone(hz: float, seconds: float, *, rate: int = RATE, start: int = 0) -> NDArray[np.int16]:
    """Return a sine of a third of full scale, from sample *start* on."""
    samples = start + np.arange(round(rate * seconds))
    return (np.sin(2 * np.pi * hz * samples / rate) * 10_000).astype(np.int16)


def strongest_hz(sound: NDArray[np.int16], *, rate: int = RATE) -> float:
    """Return the frequency of the strongest part of *sound*, to a fraction of a bin."""
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    peak = int(spectrum[1:-1].argmax()) + 1
    before, here, after = np.log(spectrum[peak - 1 : peak + 2] + 1e-9)
    offset = 0.5 * (before - after) / (before - 2 * here + after)
    return float((peak + offset) * rate / len(sound))


def longest_quiet_s(sound: NDArray[np.int16], *, rate: int = RATE) -> float:
    """Return the longest stretch below a tenth of the usual loudness."""
    window = rate // 500  # 2 ms: a period of the tones used here
    levels = np.abs(sound[: len(sound) // window * window].astype(float)).reshape(-1, window)
    is_quiet = levels.mean(axis=1) < 0.1 * np.median(levels.mean(axis=1))
    longest = run = 0
    for quiet in is_quiet:
        run = run + 1 if quiet else 0
        longest = max(longest, run)
    return longest * window / rate
