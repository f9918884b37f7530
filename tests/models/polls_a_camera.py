"""A free loop that polls its camera and never asks whether anybody is there."""

import asyncio

from tests.models.parts import Picture

from reactor_runtime import MediaInput, ReactorModel, Video


class Sources(MediaInput):
    camera: Video


class PollsACamera(ReactorModel):
    eyes: Sources

    async def run(self) -> None:
        while True:
            frames = self.eyes.camera.try_read()
            if frames is not None:
                await self.emit(Picture(main_video=frames[0].data))
            await asyncio.sleep(0.001)
