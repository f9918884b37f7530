"""A hand-written loop in the lockstep form; notes the turn and what came between."""

import asyncio

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorModel, event


class TurnsState(InputState):
    quiet: bool = False
    finish: bool = False
    leave: bool = False


class TakesTurns(ReactorModel):
    state: TurnsState
    in_step = False

    async def run(self) -> None:
        async for turn in self.turns():
            self.in_step = True
            await self.send(Note(text=f"turn {turn.number} {turn.time_s >= 0}"))
            await asyncio.sleep(0.002)
            if not self.state.quiet:
                await self.emit(Picture(main_video=flat(turn.number)))
            self.in_step = False
            if self.state.finish:
                return
            if self.state.leave:
                break
        await asyncio.Event().wait()  # on its own time from here on

    @event
    async def note(self, text: str) -> None:
        await self.send(Note(text=f"{text} {'in a step' if self.in_step else 'between steps'}"))
