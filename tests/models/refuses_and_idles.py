"""Step hooks, each of which does what the state says."""

import asyncio
from typing import Any

from tests.models.parts import Note, Picture, flat

from reactor_runtime import (
    ApplicationError,
    Idle,
    InputField,
    InputState,
    ReactorModel,
    StepCompleted,
    StepOutcome,
    event,
)

MODES = ["show", "refuse", "none", "idle", "report", "catch", "raise", "wrong", "many", "both"]


class Mode(InputState):
    mode: str = InputField(default="show", choices=MODES)


class RefusesAndIdles(ReactorModel):
    state: Mode

    def __init__(self) -> None:
        self.asked = self.made = 0

    async def process_input(self) -> str:
        self.asked += 1
        await asyncio.sleep(0)
        if self.state.mode == "refuse":
            raise ApplicationError("not ready")
        return self.state.mode

    async def generate(self, mode: str) -> Any:
        await self.send(Note(text=f"generate {mode}"))
        self.made += 1
        if mode in {"raise", "catch"}:
            raise ValueError("a secret detail")
        if mode == "wrong":
            return flat(1)
        if mode in {"many", "both"}:
            await self.emit(Picture(main_video=flat(101)))
            await self.emit(Picture(main_video=flat(102)))
        if mode == "many":
            return None
        return {"none": None, "idle": Idle}.get(mode, Picture(main_video=flat(self.made)))

    async def process_output(self, outcome: StepOutcome) -> Any:
        if self.state.mode == "catch":
            return Picture(main_video=flat(200 + (outcome.error is not None)))
        if self.state.mode == "report":
            files = {"depth.bin": b"123"}
            return StepCompleted(output=outcome.to_output(), files=files, error="a little")
        return super().process_output(outcome)

    @event
    def asked_so_far(self) -> Note:
        return Note(text=str(self.asked))
