"""Read-only, non-contiguous, reversed and reused arrays, and one that changes after ``emit``."""

import numpy as np
from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import ReactorModel


class EmitsAwkwardArrays(ReactorModel):
    fps = 30

    def load(self, config_path) -> None:  # type: ignore[no-untyped-def]  # as authors write
        self.fixed = grey(40)
        self.fixed.flags.writeable = False
        self.wide = np.repeat(grey(80), 2, axis=1)
        self.reused = grey(120)
        self.shared = np.broadcast_to(np.uint8(160), (48, 64, 3))

    async def run(self) -> None:
        async for _ in self.turns():
            await self.emit(Picture(main_video=self.fixed))
            await self.emit(Picture(main_video=self.wide[::-1, ::-2]))
            same = Picture(main_video=self.reused)
            await self.emit(same)
            await self.emit(same)
            self.reused[:] = 240  # on return from emit it is the author's again
            self.reused[:] = 120
            await self.emit(Picture(main_video=self.shared))
            assert not self.fixed.flags.writeable
            assert (self.fixed == 40).all()
