"""Sound in, sound and 12.5 pictures a second out: what is heard is the clock."""

from collections.abc import AsyncIterator

import numpy as np
from tests.compat.adapters.paint import grey

from reactor_runtime import Audio, InputState, MediaInput, Output, ReactorPipeline, ReadMode, Video


class Ear(Audio):
    sample_rate = 24_000
    buffer_seconds = 2.0


class Mouth(Audio):
    sample_rate = 24_000


class Heard(MediaInput):
    mic: Ear


class Spoken(Output):
    main_video: Video
    main_audio: Mouth


class TalkState(InputState):
    level: int = 100


class TalksFullDuplex(ReactorPipeline):
    state: TalkState
    heard: Heard
    fps = 12.5

    async def inference(self) -> AsyncIterator[Spoken]:
        sound = np.zeros((1, 0), np.int16)
        while True:
            while sound.shape[1] < 1920:  # 80 ms
                (frame,) = await self.heard.mic.read(1, mode=ReadMode.FIFO)
                sound = np.concatenate([sound, frame.data[:1]], axis=1)
            now, sound = sound[:, :1920], sound[:, 1920:]
            yield Spoken(main_video=grey(self.state.level), main_audio=now)
