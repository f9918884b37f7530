"""The lockstep form of the loop that reports its steps itself."""

from tests.models.parts import Picture, flat
from tests.models.reports_by_hand import ReportsByHand

from reactor_runtime import StepCompleted, event


class ReportsInTurns(ReportsByHand):
    async def run(self) -> None:
        await self.complete_step(StepCompleted(error="before any session"))
        async for _ in self.turns():
            if self.state.value:
                picture, self.state.value = Picture(main_video=flat(self.state.value)), 0
                await self.emit(picture, compute_time=0.25)
                await self.complete_step(
                    StepCompleted(output=picture, files={"a": b"1"}, elapsed=0.5)
                )
                await self.complete_step(StepCompleted(files={"c": b"3"}))

    @event
    async def report(self, value: int) -> None:
        shown = Picture(main_video=flat(value))
        await self.complete_step(StepCompleted(output=shown, files={"b": memoryview(b"2")}))  # type: ignore[dict-item]
