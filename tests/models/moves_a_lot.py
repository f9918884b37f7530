"""A picture whose every part moves, so that it costs the bits it is given: 640x360 at 24 fps."""

from typing import Any

import numpy as np
from tests.models.parts import Picture

from reactor_runtime import ReactorModel

WIDTH, HEIGHT, FPS = 640, 360, 24


class MovesALot(ReactorModel):
    fps = FPS

    def load(self, config_path: object) -> None:
        noise = np.random.default_rng(1).integers(0, 256, (HEIGHT // 4, WIDTH // 2, 3), np.uint8)
        self.texture = noise.repeat(4, axis=0).repeat(4, axis=1)
        self.steps = 0

    def generate(self, input: Any) -> Picture:
        self.steps += 1
        at = 6 * self.steps % WIDTH
        return Picture(main_video=self.texture[:, at : at + WIDTH])
