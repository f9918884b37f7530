"""A loop of nothing but ``emit`` and ``sleep(0)``, which never asks whether anybody is there."""

import asyncio

from tests.models.parts import Note, Picture, flat

from reactor_runtime import ReactorModel, event


class EmitsBlindly(ReactorModel):
    fps = 20

    async def run(self) -> None:
        self.emissions = 0
        while True:
            await self.emit(Picture(main_video=flat(self.emissions)))
            self.emissions += 1
            await asyncio.sleep(0)

    @event
    def emissions_so_far(self) -> Note:
        return Note(text=str(self.emissions))
