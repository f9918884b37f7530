"""A module beside its manifest; ``load`` gets a path and reads it."""

from pathlib import Path

import numpy as np
from sibling import level_in

from reactor_runtime import InputState, Output, ReactorPipeline, Video


class FastState(InputState):
    level: int = 0


class FastOutput(Output):
    main_video: Video


class FastModel(ReactorPipeline):
    state: FastState
    fps = 20

    def load(self, config_path: Path | None) -> None:
        assert isinstance(config_path, Path)
        assert config_path.is_absolute()
        self.level = level_in(config_path)

    def inference(self):
        while True:
            yield FastOutput(main_video=np.full((48, 64, 3), self.level, np.uint8))
