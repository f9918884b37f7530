"""A pipeline whose generator yields three numbers and ends; notes when it is closed."""

from collections.abc import Iterator

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, Output, ReactorPipeline, disconnected, session_ended


class NumbersState(InputState):
    add: int = 0


class YieldsNumbers(ReactorPipeline):
    state: NumbersState
    closings = 0

    def inference(self) -> Iterator[Output]:
        try:
            for number in (1, 2, 3):
                yield Picture(main_video=flat(number + self.state.add))
        finally:
            self.closings += 1

    @disconnected
    async def left(self) -> None:
        await self.send(Note(text=f"left, closed {self.closings}"))

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text=f"ended, closed {self.closings}"))
