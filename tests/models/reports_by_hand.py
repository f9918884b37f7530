"""A free loop that reports its steps itself, and shows some of them only through the report."""

import asyncio

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorModel, StepCompleted, event


class ReportState(InputState):
    value: int = 0


class ReportsByHand(ReactorModel):
    state: ReportState

    async def run(self) -> None:
        await self.complete_step(StepCompleted(error="before any session"))
        while True:
            await self.connected.wait()
            await asyncio.sleep(0.001)
            if self.state is None or not self.state.value:
                continue
            picture, self.state.value = Picture(main_video=flat(self.state.value)), 0
            await self.emit(picture, compute_time=0.25)
            await self.complete_step(StepCompleted(output=picture, files={"a": b"1"}, elapsed=0.5))
            await self.complete_step(StepCompleted(output=Picture(main_video=flat(250))))

    @event
    async def show_or_drop(self) -> Note:
        await self.emit(Picture(main_video=flat(99)), drop=True)
        return Note(text="went on")
