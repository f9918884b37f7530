"""A hand-written loop on its own time, as loops were before there were turns."""

import asyncio

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorModel, event, session_started


class FreeState(InputState):
    value: int = 1
    pictures: int = 1  # of each step, where there are steps


class RunsFree(ReactorModel):
    state: FreeState
    fps = 50

    def __init__(self) -> None:
        self.loops = 0

    @session_started
    def begin(self) -> None:
        self.loops = 0

    async def run(self) -> None:
        while True:
            await self.connected.wait()
            self.loops += 1
            if self.state is None:  # the session has just ended
                continue
            await self.emit(Picture(main_video=flat(self.state.value)))
            await asyncio.sleep(0)

    @event
    async def note(self, text: str) -> None:
        await asyncio.sleep(0.01)
        await self.send(Note(text=text))

    @event
    def flush(self) -> None:
        self.output.flush()

    @event
    def pace(self, fps: float) -> Note:
        self.output.fps = fps
        return Note(text=str(self.output.fps))

    @event
    def loops_so_far(self) -> Note:
        return Note(text=str(self.loops))
