"""An asynchronous pipeline that counts for ever and idles now and then; notes its closing."""

import asyncio
from collections.abc import AsyncIterator

from tests.models.parts import Note, Picture, flat

from reactor_runtime import (
    Idle,
    InputState,
    Output,
    ReactorPipeline,
    disconnected,
    event,
    session_ended,
)


class ForeverState(InputState):
    every: int = 0  # each so-many-th turn is idle
    breaks_in_finally: bool = False


class YieldsForever(ReactorPipeline):
    state: ForeverState

    async def inference(self) -> AsyncIterator[Output | None]:
        number = 0
        await self.send(Note(text="opened"))
        try:
            while True:
                number += 1
                if self.state.every and number % self.state.every == 0:
                    yield Idle if number % 2 else None  # type: ignore[misc]
                await asyncio.sleep(0)
                yield Picture(main_video=flat(number))
        finally:
            await asyncio.sleep(0)
            await self.send(Note(text="closed"))
            if self.state.breaks_in_finally:
                raise ValueError("broken in finally")

    @event
    async def note(self, text: str) -> None:
        await self.send(Note(text=text))

    @disconnected
    async def left(self) -> None:
        await self.send(Note(text="left"))

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text="ended"))
