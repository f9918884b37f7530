"""Shows eight pictures of 1080p a step, 50 MB."""

from typing import Any

import numpy as np
from tests.models.parts import Picture

from reactor_runtime import ReactorModel


class FillsAScreen(ReactorModel):
    def load(self, config_path: object) -> None:
        self.steps = 0

    def generate(self, input: Any) -> Picture:
        self.steps += 1
        return Picture(main_video=np.full((8, 1080, 1920, 3), self.steps, np.uint8))
