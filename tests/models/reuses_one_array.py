"""Emits one and the same array again and again, overwriting it as soon as ``emit`` returns."""

from tests.models.parts import Picture, flat

from reactor_runtime import ReactorModel


class ReusesOneArray(ReactorModel):
    async def run(self) -> None:
        canvas = flat(0)
        async for turn in self.turns():
            canvas[:] = turn.number
            await self.emit(Picture(main_video=canvas))
            canvas[:] = 255
