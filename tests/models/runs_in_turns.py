"""The lockstep form of the loop that runs free, with the same commands."""

from tests.models.parts import Note, Picture, flat
from tests.models.runs_free import RunsFree

from reactor_runtime import ClientInfo, disconnected, event


class RunsInTurns(RunsFree):
    async def run(self) -> None:
        async for _ in self.turns():
            assert await self.connected.wait()
            self.loops += 1
            for _ in range(self.state.pictures):
                await self.emit(Picture(main_video=flat(self.state.value)))

    @event
    def is_connected(self) -> Note:
        return Note(text=str(self.connected.is_set()))

    @disconnected
    async def left(self, client: ClientInfo) -> None:
        await self.send(Note(text=f"left {self.connected.is_set()}"))
