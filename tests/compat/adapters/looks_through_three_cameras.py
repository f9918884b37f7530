"""Three cameras in, messages only out; the handle has a name of the author's."""

import asyncio

from reactor_runtime import BufferClosed, Input, ModelMessage, ReactorModel, Video


class Rig(Input):
    left: Video
    middle: Video
    right: Video


class Seen(ModelMessage):
    greys: list[int]


class LooksThroughThreeCameras(ReactorModel):
    rig: Rig

    async def run(self) -> None:
        async for _ in self.turns():
            try:
                frames = [await each.read(timeout=5) for each in self.cameras]
            except (BufferClosed, TimeoutError):
                continue
            await self.send(Seen(greys=[round(float(f[0].data.mean())) for f in frames]))
            await asyncio.sleep(0.001)

    @property
    def cameras(self):  # type: ignore[no-untyped-def]  # as authors write
        return self.rig.left, self.rig.middle, self.rig.right
