"""Noise, which no encoder makes small, in the size asked for; each picture tells its number."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from reactor_runtime import InputState, Output, ReactorPipeline, TrackPayload, Video

SIZES = {"small": (120, 160), "wide": (120, 320), "odd": (201, 99)}


class SizeState(InputState):
    size: Literal["small", "wide", "odd"] = "small"


class Noise(Output):
    main_video: Video


class ChangesItsSize(ReactorPipeline):
    state: SizeState
    fps = 24

    def inference(self) -> Iterator[Noise]:
        random = np.random.default_rng(self.seed)
        number = 0
        while True:
            pixels = random.integers(0, 255, (*SIZES[self.state.size], 3), np.uint8)
            yield Noise(main_video=TrackPayload(pixels, metadata={"number": number}))
            number += 1
