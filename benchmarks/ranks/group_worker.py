"""The same for a WorkerGroup: a chunk returned by the leader, or written in place by all."""

import numpy as np
from bench_worker import SHAPE

from reactor_runtime.experimental import DistributedWorker


class Worker(DistributedWorker):
    def setup(self):
        self.chunk = np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)

    def generate_chunk(self, index, controls):
        if controls == "returned":
            return self.chunk if self.is_leader else None
        rows = self.frames.array()
        rows[index % SHAPE[0], 0, 0, 0] = index % 256
        return SHAPE[0]
