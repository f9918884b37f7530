"""A tone beside pictures, each step with a number attached to its sound and one to its picture."""

from collections.abc import Iterator

import numpy as np
from tests.models.parts import flat

from reactor_runtime import Audio, InputState, Output, ReactorPipeline, TrackPayload, Video

FPS = 24


class Scene(Output):
    main_video: Video
    tone: Audio


class Nothing(InputState):
    pass


class SaysBesideSound(ReactorPipeline):
    state: Nothing
    fps = FPS

    def inference(self) -> Iterator[Scene]:
        picture = np.repeat(np.repeat(flat(120, frames=1), 30, axis=1), 30, axis=2)
        wave = 0.3 * np.sin(2 * np.pi * 480 * np.arange(48_000 // FPS) / 48_000)
        number = 0
        while True:
            yield Scene(
                main_video=TrackPayload(picture, metadata={"picture": number}),
                tone=TrackPayload(wave[None].astype("f4"), metadata={"sound": number}),
            )
            number += 1
