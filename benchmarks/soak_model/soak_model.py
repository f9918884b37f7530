"""A 1280x720 moving picture that returns the newest camera picture in its corner."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))

from pattern import Pattern

from reactor_runtime import (
    InputField,
    InputState,
    MediaInput,
    MessageField,
    ModelMessage,
    Output,
    ReactorPipeline,
    Video,
    event,
)


class SoakState(InputState):
    color: str = InputField(default="red", choices=["red", "green", "blue"])
    level: float = InputField(default=0, ge=0, le=1)


class Sources(MediaInput):
    camera: Video


class Picture(Output):
    main_video: Video


class Echoed(ModelMessage):
    text: str = MessageField(description="What was sent.")


class Soak(ReactorPipeline):
    state: SoakState
    sources: Sources
    fps = 24

    def load(self, config_path):
        self.pattern = Pattern()

    @event
    def echo(self, text: str = InputField(default="", max_length=100)) -> Echoed:
        return Echoed(text=text)

    def inference(self):
        number, corner = 0, None
        while True:
            picture = self.pattern.frame(number & 0xFFFF, self.state.color)
            if seen := self.sources.camera.try_read():
                corner = seen[0].data
            if corner is not None:
                picture[150 : 150 + corner.shape[0], 300 : 300 + corner.shape[1]] = corner
            number += 1
            yield Picture(main_video=picture)
