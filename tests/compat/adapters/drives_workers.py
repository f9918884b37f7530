"""One rank that drives a group of its own."""

from typing import Any

import numpy as np
from tests.compat.adapters.paint import Picture

from reactor_runtime import InputState, ReactorModel
from reactor_runtime.experimental import DistributedWorker, WorkerGroup


class Half(DistributedWorker):
    def setup(self, rows: int) -> None:
        self.rows = rows

    def start_session(self, params: Any) -> None:
        self.offset = params["offset"]

    def generate_chunk(self, index: int, controls: Any) -> Any:
        band = slice(self.rank * self.rows, (self.rank + 1) * self.rows)
        self.frames.array()[:2, band] = self.offset + controls["level"]
        return 2


class DriveState(InputState):
    level: int = 10


class DrivesWorkers(ReactorModel):
    state: DriveState
    fps = 20

    def load(self, config_path: Any) -> None:
        self.group = WorkerGroup(
            Half,
            2,
            frame_shape=(2, 48, 64, 3),
            setup_kwargs={"rows": 24},
            init_process_group=False,
            device="cpu",
        )
        self.group.start()

    async def run(self) -> None:
        index = 0
        async for turn in self.turns():
            if turn.number == 0:
                index = 0
                self.group.start_session({"offset": 100}, seed=self.seed)
            chunk = self.group.generate(index, {"level": self.state.level})
            index += 1
            await self.emit(Picture(main_video=np.asarray(chunk)))
