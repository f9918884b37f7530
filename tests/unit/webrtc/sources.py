"""Tracks that an aiortc client publishes."""

import asyncio
import fractions
from typing import Any

import av
import numpy as np
from aiortc.mediastreams import MediaStreamTrack


class Camera(MediaStreamTrack):  # type: ignore[misc]
    """Shows (level, 100, 0), the level growing by 20 with every picture."""

    kind = "video"

    def __init__(self, fps: float = 30.0) -> None:
        super().__init__()
        self._fps, self._number = fps, 0

    async def recv(self) -> Any:
        await asyncio.sleep(1 / self._fps)
        rgb = np.full((180, 320, 3), (self._number * 20 % 240, 100, 0), np.uint8)
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
        frame.pts, frame.time_base = self._number * 3000, fractions.Fraction(1, 90_000)
        self._number += 1
        return frame


class Microphone(MediaStreamTrack):  # type: ignore[misc]
    """Hums at 440 Hz."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._number = 0

    async def recv(self) -> Any:
        await asyncio.sleep(0.018)
        at = np.arange(self._number * 960, (self._number + 1) * 960)
        wave = (np.sin(at * 2 * np.pi * 440 / 48_000) * 12_000).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(wave[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts = 48_000, self._number * 960
        frame.time_base = fractions.Fraction(1, 48_000)
        self._number += 1
        return frame
