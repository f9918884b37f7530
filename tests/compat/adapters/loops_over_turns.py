"""A loop in the lockstep form."""

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorModel


class TurnState(InputState):
    level: int = 50


class LoopsOverTurns(ReactorModel):
    state: TurnState
    fps = 30

    async def run(self) -> None:
        async for turn in self.turns():
            assert turn.number >= 0
            assert turn.time_s >= 0
            await self.emit(Picture(main_video=grey(self.state.level)), drop=False)
