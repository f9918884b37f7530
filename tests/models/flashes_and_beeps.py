"""A white picture and a beep together, once a second, in each frame's own share of sound."""

from collections.abc import Iterator

import numpy as np

from reactor_runtime import Audio, InputState, Output, ReactorPipeline, Video

FPS, RATE = 24, 48_000
LOUD_FRAMES = 6


class FlashAndBeep(Output):
    main_video: Video
    voice: Audio


class FlashesAndBeeps(ReactorPipeline):
    state: InputState
    fps = FPS

    def inference(self) -> Iterator[FlashAndBeep]:
        samples = RATE // FPS
        tone = (np.sin(2 * np.pi * 1000 * np.arange(samples) / RATE) * 20_000).astype(np.int16)
        while True:
            for frame in range(FPS):
                is_loud = frame < LOUD_FRAMES
                yield FlashAndBeep(
                    main_video=np.full((120, 160, 3), 230 if is_loud else 20, np.uint8),
                    voice=tone[None] if is_loud else np.zeros((1, samples), np.int16),
                )
