"""The older form of ``load``: the parsed file."""

import numpy as np

from reactor_runtime import InputState, Output, ReactorPipeline, Video


class OlderState(InputState):
    pass


class OlderOutput(Output):
    main_video: Video


class Older(ReactorPipeline):
    state: OlderState
    fps = 20

    def load(self, config: dict):
        assert config["nested"] == {"list": [1, 2]}
        self._config = config

    def inference(self):
        while True:
            yield OlderOutput(main_video=np.full((48, 64, 3), self._config["level"], np.uint8))
