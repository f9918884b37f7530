"""Each rank paints its band; on one rank that is the picture."""

from collections.abc import Iterator

import numpy as np
from tests.compat.adapters.paint import Picture

from reactor_runtime import InputState, ReactorPipeline, Shard


class BandState(InputState):
    level: int = 100


class ShardsItsPicture(ReactorPipeline):
    state: BandState
    fps = 20

    def load(self, config_path) -> None:  # type: ignore[no-untyped-def]  # as authors write
        assert self.device == "cpu"
        assert 0 <= self.local_rank <= self.rank < self.world_size
        assert self.is_leader == (self.rank == 0)

    def inference(self) -> Iterator[Picture]:
        while True:
            rows = 48 // self.world_size
            band = np.full((rows, 64, 3), self.state.level, np.uint8)
            yield Picture(main_video=Shard(band, axis="height"))
