"""Full duplex: a face at 12.5 pictures a second, and the voice it hears, 80 ms at a time."""

from collections.abc import AsyncIterator

import numpy as np

from reactor_runtime import (
    Audio,
    InputState,
    MediaInput,
    Output,
    ReactorPipeline,
    ReadMode,
    Video,
)


class Voice(Audio):
    sample_rate = 24_000


class Ears(MediaInput):
    microphone: Voice


class Face(Output):
    main_video: Video
    main_audio: Voice


class TalksBack(ReactorPipeline):
    state: InputState
    ears: Ears
    fps = 12.5

    async def inference(self) -> AsyncIterator[Face]:
        heard, number = np.zeros((1, 0), np.int16), 0
        while True:
            frames = await self.ears.microphone.read(mode=ReadMode.FIFO)
            heard = np.concatenate([heard, *(frame.data for frame in frames)], axis=1)
            while heard.shape[1] >= 1920:
                said, heard = heard[:, :1920], heard[:, 1920:]
                number += 1
                yield Face(main_video=np.full((64, 64, 3), number % 256, np.uint8), main_audio=said)
