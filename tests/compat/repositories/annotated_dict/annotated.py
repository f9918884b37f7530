"""The older form of ``load``, by annotation alone."""

import numpy as np

from reactor_runtime import InputState, Output, ReactorPipeline, Video


class AnnotatedState(InputState):
    pass


class AnnotatedOutput(Output):
    main_video: Video


class Annotated(ReactorPipeline):
    state: AnnotatedState
    fps = 20

    def load(self, settings: dict[str, int]):
        self._config = settings

    def inference(self):
        while True:
            yield AnnotatedOutput(main_video=np.full((48, 64, 3), self._config["level"], np.uint8))
