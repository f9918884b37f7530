"""No configuration at all."""

import numpy as np

from reactor_runtime import InputState, Output, ReactorPipeline, Video


class BareState(InputState):
    level: int = 111


class BareOutput(Output):
    main_video: Video


class Bare(ReactorPipeline):
    state: BareState
    fps = 20

    def load(self, config_path):
        assert config_path is None

    def inference(self):
        while True:
            yield BareOutput(main_video=np.full((48, 64, 3), self.state.level, np.uint8))
