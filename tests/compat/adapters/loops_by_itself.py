"""A loop of its own, as before there were turns."""

import asyncio

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ModelMessage, ReactorModel, event


class LoopState(InputState):
    level: int = 50


class Counted(ModelMessage):
    loops: int


class LoopsByItself(ReactorModel):
    state: LoopState
    fps = 30

    async def run(self) -> None:
        self.loops = 0
        while True:
            await self.connected.wait()
            if self.state is None:
                continue
            self.loops += 1
            await self.emit(Picture(main_video=grey(self.state.level)), compute_time=0.01)
            await asyncio.sleep(0)

    @event
    async def count(self) -> Counted:
        await asyncio.sleep(0.001)
        return Counted(loops=self.loops)
