"""The rank that the distributed benchmark runs, on any runner with load/generate/reset workers."""

import time

import numpy as np

SHAPE = (12, 720, 1280, 3)


class Worker:
    def load(self, **options):
        self.chunk = np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)

    def generate(self, request):
        if isinstance(request, np.ndarray):
            return int(request[0, 0, 0, 0])
        if request == "chunk":
            return self.chunk
        if request == "slow":
            time.sleep(30)
        return None

    def reset(self):
        pass
