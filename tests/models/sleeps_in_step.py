"""Gets stuck in a step for as long as told, blocking its thread or only awaiting."""

import asyncio
import time

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputField, InputState, ReactorModel, event, session_ended


class SleepState(InputState):
    how: str = InputField(default="", choices=["", "block", "await", "linger"])
    seconds: float = 3.0


class SleepsInStep(ReactorModel):
    state: SleepState

    async def generate(self, state: SleepState) -> Picture:
        await self.send(Note(text=f"step {state.how}"))
        if state.how == "block":
            time.sleep(state.seconds)  # noqa: ASYNC251 - that is its fault
        elif state.how:
            await asyncio.sleep(state.seconds)
        if state.how:
            state.how = ""
            return Picture(main_video=flat(99))
        return Picture(main_video=flat(1))

    @event
    def block_in_command(self, seconds: float) -> None:
        time.sleep(seconds)

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text="ended"))
