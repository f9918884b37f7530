"""The five ways to write a body, one model each, alike to a client; each breaks when told to."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import numpy as np

from reactor_runtime import (
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorModel,
    ReactorPipeline,
    Video,
    event,
    session_started,
)

COLORS = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 220)}


class BodyState(InputState):
    color: str = InputField(default="red", choices=[*COLORS])


class Picture(Output):
    main_video: Video


class Answer(ModelMessage):
    text: str


class Said(ModelMessage):
    text: str


class Steering:
    """What all five have in common."""

    state: BodyState
    fps = 24
    is_broken = False

    @session_started
    def begin(self) -> None:
        self.is_broken = False

    @event
    def ask(self, text: str) -> Answer:
        return Answer(text=text.upper())

    @event
    async def tell_all(self, text: str) -> None:
        await self.send(Said(text=text))  # type: ignore[attr-defined]

    @event
    def break_body(self) -> None:
        self.is_broken = True

    def paint(self) -> Picture:
        if self.is_broken:
            raise ValueError(f"{type(self).__name__} broke on purpose")
        picture = np.empty((120, 160, 3), np.uint8)
        picture[:] = COLORS[self.state.color]
        return Picture(main_video=picture)


class StepBody(Steering, ReactorModel):
    state: BodyState

    def generate(self, input: BodyState) -> Picture:
        return self.paint()


class GeneratorBody(Steering, ReactorPipeline):
    state: BodyState

    def inference(self) -> Iterator[Picture]:
        while True:
            yield self.paint()


class AsyncGeneratorBody(Steering, ReactorPipeline):
    state: BodyState

    async def inference(self) -> AsyncIterator[Picture]:
        while True:
            await asyncio.sleep(0)
            yield self.paint()


class TurnsBody(Steering, ReactorModel):
    state: BodyState

    async def run(self) -> None:
        async for _ in self.turns():
            await self.emit(self.paint())


class FreeBody(Steering, ReactorModel):
    state: BodyState

    async def run(self) -> None:
        while True:
            await self.connected.wait()
            if self.state is not None:
                await self.emit(self.paint())
            await asyncio.sleep(0)
