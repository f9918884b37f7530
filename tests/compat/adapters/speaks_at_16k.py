"""A voice of 16 kHz in float32, one in stereo, and a picture."""

from collections.abc import Iterator

import numpy as np
from tests.compat.adapters.paint import grey

from reactor_runtime import Audio, InputState, Output, ReactorPipeline, Video


class Voice(Audio):
    sample_rate = 16_000


class Speech(Output):
    main_video: Video
    voice: Voice


class SpeechState(InputState):
    pass


class SpeaksAt16k(ReactorPipeline):
    state: SpeechState

    def inference(self) -> Iterator[Speech]:
        wave = np.sin(np.arange(1600) * 2 * np.pi * 400 / 16_000).astype(np.float32) * 0.5
        while True:
            yield Speech(main_video=grey(45), voice=wave[None])
