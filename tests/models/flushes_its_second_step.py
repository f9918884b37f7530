"""Emits the number of its step; the second step first drops what was emitted before."""

from tests.models.parts import Note, Picture, flat

from reactor_runtime import ReactorModel


class FlushesItsSecondStep(ReactorModel):
    async def run(self) -> None:
        async for turn in self.turns():
            if turn.number == 1:
                self.output.flush()
                await self.send(Note(text="flushed"))
            await self.emit(Picture(main_video=flat(turn.number)))
