"""Commands that wait for what only an event after them can bring."""

import asyncio
from collections.abc import Iterator

from tests.models.parts import Picture, flat

from reactor_runtime import InputState, ReactorPipeline, event


class WaitsForEvents(ReactorPipeline):
    state: InputState
    fps = 50

    def inference(self) -> Iterator[Picture]:
        while True:
            yield Picture(main_video=flat(7))

    @event
    async def wait_for_a_client(self) -> None:
        await self.connected.wait()

    @event
    async def wait_for_a_signal(self) -> None:
        self.signal = asyncio.Event()
        await self.signal.wait()

    @event
    def give_the_signal(self) -> None:
        self.signal.set()
