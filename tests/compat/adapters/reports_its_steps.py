"""A loop that reports each step by hand, and refuses names that cannot be."""

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorModel, StepCompleted, event


class ReportState(InputState):
    level: int = 0


class ReportsItsSteps(ReactorModel):
    state: ReportState
    fps = 20

    async def run(self) -> None:
        await self.complete_step(StepCompleted(files={"a": b"nobody is there"}))
        async for turn in self.turns():
            if self.state.level:
                picture = Picture(main_video=grey(self.state.level))
                await self.emit(picture)
                await self.complete_step(
                    StepCompleted(output=picture, files={"n.txt": str(turn.number).encode()})
                )

    @event
    async def name_a_file(self, name: str) -> None:
        await self.complete_step(StepCompleted(files={name: b""}))
