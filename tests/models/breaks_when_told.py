"""Breaks in the way, and at the moment, that a command asks for; else shows its step count."""

import sys
from collections.abc import Callable
from typing import Any

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputField, ReactorModel, event, session_ended, session_started


def leave() -> None:
    sys.exit(3)


def fail() -> None:
    raise ValueError("a secret detail")


def lose_the_device() -> None:
    raise RuntimeError("CUDA error: device-side assert triggered")


WAYS: dict[str, Callable[[], None]] = {"fail": fail, "leave": leave, "cuda": lose_the_device}


class BreaksWhenTold(ReactorModel):
    fps = 30

    def __init__(self) -> None:
        self.armed = {"step": "", "start": "", "end": ""}
        self.steps = 0

    @event
    def arm(
        self,
        moment: str = InputField(default="step", choices=["step", "start", "end"]),
        way: str = InputField(default="fail", choices=[*WAYS]),
    ) -> None:
        self.armed[moment] = way

    def spring(self, moment: str) -> None:
        way, self.armed[moment] = self.armed[moment], ""
        if way:
            WAYS[way]()

    @session_started
    def begin(self) -> None:
        self.spring("start")

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text="ended"))
        self.spring("end")

    def generate(self, input: Any) -> Picture:
        self.spring("step")
        self.steps += 1
        return Picture(main_video=flat(self.steps))
