"""Emits a picture, its own or one of parts, reports, and raises in the same step."""

from typing import Any

import numpy as np
from tests.models.parts import Picture, flat

from reactor_runtime import InputState, ReactorModel, Shard, StepCompleted


class BreakState(InputState):
    is_shared: bool = False
    is_half: bool = False
    is_armed: bool = False


class BreaksAfterEmitting(ReactorModel):
    state: BreakState

    async def generate(self, state: BreakState) -> Any:
        if not state.is_armed:
            return
        picture: Any = flat(5)
        if state.is_half and not self.is_leader:
            picture = None
        elif state.is_shared or state.is_half:
            picture = Shard(np.array_split(picture, self.world_size)[self.rank], axis="height")
        await self.emit(Picture(main_video=picture))
        await self.complete_step(StepCompleted(files={"a": b"1"}))
        raise ValueError("after the picture")
