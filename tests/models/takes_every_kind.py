"""A command with an argument of every kind, and a count of how often its handler ran."""

from typing import Literal

import numpy as np

from reactor_runtime import (
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorModel,
    Video,
    event,
)


class Taken(ModelMessage):
    types: str
    runs: int


class KindState(InputState):
    level: int = InputField(default=0, ge=0, le=10)


class Picture(Output):
    main_video: Video


class TakesEveryKind(ReactorModel):
    state: KindState
    runs = 0

    @event
    def take(
        self,
        whole: int = 1,
        real: float = 1.0,
        flag: bool = False,
        text: str = "",
        side: Literal["left", "right"] = "left",
        bounded: float = InputField(default=0.5, ge=0, le=1),
    ) -> Taken:
        self.runs += 1
        kinds = [type(v).__name__ for v in (whole, real, flag, text, side, bounded)]
        return Taken(types=" ".join(kinds), runs=self.runs)

    @event
    def need(self, name: str) -> Taken:
        self.runs += 1
        return Taken(types=type(name).__name__, runs=self.runs)

    @event
    def count(self) -> Taken:
        return Taken(types="", runs=self.runs)

    def generate(self, state: KindState) -> Picture:
        return Picture(main_video=np.zeros((16, 16, 3), np.uint8))
