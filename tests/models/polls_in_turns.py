"""The lockstep form of the loop that polls its camera."""

from tests.models.parts import Picture
from tests.models.polls_a_camera import PollsACamera


class PollsInTurns(PollsACamera):
    async def run(self) -> None:
        async for _ in self.turns():
            if (frames := self.eyes.camera.try_read()) is not None:
                await self.emit(Picture(main_video=frames[0].data))
