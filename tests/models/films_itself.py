"""Makes the same film on any number of ranks: each computes the rows it has, of seed, time and hue.

The hue of a step is agreed by a collective where there are ranks, so that each must take part.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.models.parts import Note

from reactor_runtime import (
    Audio,
    InputField,
    InputState,
    Output,
    ReactorPipeline,
    Shard,
    Video,
    connected,
    event,
)

HEIGHT, WIDTH = 12, 16


class FilmState(InputState):
    hue: int = InputField(default=10, ge=0, le=255)
    fail_on: int = -1


class Voice(Audio):
    sample_rate = 8000


class Scene(Output):
    main_video: Video
    voice: Voice


class FilmsItself(ReactorPipeline):
    state: FilmState
    fps = 25

    def inference(self) -> Iterator[Output]:
        step = 0
        while True:
            if self.state.fail_on == self.rank:
                raise ValueError(f"rank {self.rank} will not")
            picture = np.random.randint(0, 200, (HEIGHT, WIDTH, 3)).astype(np.uint8)
            picture[:, :, 0] = self.agreed(self.state.hue)
            picture[:, 0, 1] = step
            rows = HEIGHT // self.world_size
            part = picture[self.rank * rows : (self.rank + 1) * rows]
            voice = np.full((1, 8000 // 25), step, np.int16) if self.is_leader else None
            step += 1
            yield Scene(main_video=Shard(part, axis="height"), voice=voice)

    def agreed(self, value: int) -> Any:
        if self.world_size == 1:
            return value
        import torch
        import torch.distributed as dist

        shared = torch.tensor([value / self.world_size])
        dist.all_reduce(shared)
        return round(shared.item())

    @connected
    async def greet(self) -> None:
        await self.send(Note(text=f"a world of {self.world_size}"))

    @event
    def step_time(self) -> Note:
        return Note(text="here")
