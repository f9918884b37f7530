"""A grey picture at 24 fps and one number that clients set; says which one is in force."""

import numpy as np

from reactor_runtime import InputState, ModelMessage, Output, ReactorModel, Video, event


class LevelState(InputState):
    level: int = 0


class Level(ModelMessage):
    level: int


class Picture(Output):
    main_video: Video


class HoldsALevel(ReactorModel):
    state: LevelState
    fps = 24

    @event
    def ask_level(self) -> Level:
        return Level(level=self.state.level)

    def generate(self, state: LevelState) -> Picture:
        return Picture(main_video=np.full((240, 320, 3), state.level % 256, np.uint8))
