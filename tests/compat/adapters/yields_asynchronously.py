"""An asynchronous generator that says good-bye when it is closed, and chunks of frames."""

import asyncio
from collections.abc import AsyncIterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ModelMessage, ReactorPipeline


class Phase(ModelMessage):
    name: str


class ChunkState(InputState):
    level: int = 70


class YieldsAsynchronously(ReactorPipeline):
    state: ChunkState
    fps = 24

    async def inference(self) -> AsyncIterator[Picture]:
        await self.send(Phase(name="opened"))
        try:
            while True:
                await asyncio.sleep(0)
                yield Picture(main_video=grey(self.state.level, frames=3))
        finally:
            await asyncio.sleep(0)
            self.goodbyes = getattr(self, "goodbyes", 0) + 1
            await self.send(Phase(name=f"closed {self.state.level}"))
