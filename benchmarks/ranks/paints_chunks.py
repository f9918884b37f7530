"""Models for ranks: one whose step takes a while and emits a chunk, one that does nothing."""

import time

import numpy as np
from bench_worker import SHAPE

from reactor_runtime import Output, ReactorModel, Video

STEP_S = 0.02


class Chunks(Output):
    main_video: Video


class PaintsChunks(ReactorModel):
    def load(self, config_path):
        self.chunk = np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)

    def generate(self, input):
        time.sleep(STEP_S)
        return Chunks(main_video=self.chunk)


class PaintsNothing(ReactorModel):
    def load(self, config_path):
        self.speck = np.zeros((1, 16, 16, 3), np.uint8)

    def generate(self, input):
        return Chunks(main_video=self.speck)
