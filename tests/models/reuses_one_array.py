"""Emits one array, and one dict beside it, again and again; changes both when ``emit`` returns."""

from tests.models.parts import Picture, flat

from reactor_runtime import ReactorModel, TrackPayload


class ReusesOneArray(ReactorModel):
    async def run(self) -> None:
        canvas, told = flat(0), {"turns": [0]}
        async for turn in self.turns():
            canvas[:] = turn.number
            told["turns"][0] = turn.number
            await self.emit(Picture(main_video=TrackPayload(canvas, metadata=told)))
            canvas[:] = told["turns"][0] = 255
