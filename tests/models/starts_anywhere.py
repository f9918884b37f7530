"""Shows a colour, and tells with what words and seed its session began."""

from typing import Literal

import numpy as np
from tests.models.parts import Picture

from reactor_runtime import (
    ClientInfo,
    CommandError,
    InputState,
    ModelMessage,
    ReactorModel,
    connected,
    event,
)

COLORS = {"red": (220, 30, 30), "blue": (30, 30, 220)}


class Began(ModelMessage):
    words: list[str]
    seed: str  # numbers of messages are doubles, which do not hold every seed


class ColorState(InputState):
    color: Literal["red", "blue"] = "red"
    _words: tuple[str, ...] = ()


class StartsAnywhere(ReactorModel):
    state: ColorState
    fps = 24

    @connected
    async def tell(self, client: ClientInfo) -> None:
        await client.send(Began(words=[*self.state._words], seed=str(self.seed)))

    @event
    async def add(self, words: list[str]) -> Began:
        self.state._words = (*self.state._words, *words)
        return Began(words=words, seed="")

    @event
    def refuse(self, client: ClientInfo) -> None:
        raise CommandError("too_early", f"not yet, {client.id}")

    def generate(self, state: ColorState) -> Picture:
        return Picture(main_video=np.full((180, 320, 3), COLORS[state.color], np.uint8))
