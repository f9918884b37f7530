"""The half of a model that lives on ranks, as ``DistributedRunner`` takes it."""

import numpy as np
from numpy.typing import NDArray


class Halves:
    """Any class with ``load``, ``generate`` and ``reset``."""

    def __init__(self) -> None:
        self.count = 0

    def load(self, offset: int) -> None:
        assert self.rank < self.world_size  # type: ignore[attr-defined]
        assert self.device == "cpu"  # type: ignore[attr-defined]
        self.offset = offset

    def generate(self, input: dict[str, float]) -> NDArray[np.float32]:
        if input["scale"] < 0:
            raise ValueError("a scale is not negative")
        self.count += 1
        rows = np.arange(6, dtype=np.float32).reshape(2, 3).T  # not contiguous
        return rows * input["scale"] + self.offset + self.count

    def reset(self) -> None:
        self.count = 0
