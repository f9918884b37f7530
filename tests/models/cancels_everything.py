"""A timer that cancels every task it finds, those of the runtime too."""

import asyncio
from collections.abc import Iterator

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorPipeline, event


class CancelsEverything(ReactorPipeline):
    state: InputState
    fps = 50

    def inference(self) -> Iterator[Picture]:
        while True:
            yield Picture(main_video=flat(7))

    @event
    def cancel_soon(self) -> None:
        asyncio.get_running_loop().call_later(0.05, self.cancel_all)

    @event
    async def cancel_here(self) -> None:
        self.cancel_soon()
        await asyncio.Event().wait()

    @event
    def ping(self) -> Note:
        return Note(text="pong")

    def cancel_all(self) -> None:
        for task in asyncio.all_tasks():
            task.cancel()
