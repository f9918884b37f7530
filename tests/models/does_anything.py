"""Each way to write a body, and in each of them whatever an author may do, at random."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from tests.models.parts import Picture

from reactor_runtime import (
    ApplicationError,
    ClientInfo,
    CommandError,
    InputState,
    MediaInput,
    ReactorModel,
    ReactorPipeline,
    Video,
    connected,
    event,
    session_started,
)

CHANCE = random.Random()


def happens(share: float) -> bool:
    return CHANCE.random() < share


def picture() -> Picture:
    return Picture(main_video=np.zeros((4, 4, 3), np.uint8))


class State(InputState):
    level: int = 0


class Sources(MediaInput):
    camera: Video


class Whims(ReactorModel):
    state: State
    sources: Sources

    async def follow_a_whim(self) -> None:
        if happens(0.02):
            raise ValueError("on purpose")
        if happens(0.1):
            await asyncio.sleep(0.003)
        if happens(0.05):
            self.output.flush()
        if happens(0.1):
            await self.emit(picture(), drop=happens(0.5))
        if happens(0.05):
            try:
                await self.sources.camera.read(timeout=0.01)
            except TimeoutError:
                return

    @event
    async def act(self, turns: int = 1) -> None:
        await asyncio.sleep(0.002 * turns)
        if happens(0.1):
            raise CommandError("no", "not now")
        if happens(0.1):
            raise ValueError("on purpose")
        if happens(0.1):
            await self.emit(picture())

    @session_started
    def begin(self) -> None:
        if happens(0.05):
            raise ValueError("on purpose")

    @connected
    async def came(self, client: ClientInfo) -> None:
        await asyncio.sleep(0)


class Yields(Whims, ReactorPipeline):
    async def inference(self) -> AsyncIterator[Any]:
        try:
            for _ in range(5):
                await self.follow_a_whim()
                yield picture() if happens(0.9) else None
        finally:
            await asyncio.sleep(0.001)


class Steps(Whims):
    async def process_input(self) -> State:
        if happens(0.2):
            raise ApplicationError("not now")
        return self.state

    async def generate(self, input: State) -> Picture:
        await self.follow_a_whim()
        return picture()


class TakesTurns(Whims):
    async def run(self) -> None:
        async for _turn in self.turns():
            await self.follow_a_whim()
            await self.emit(picture())
            if happens(0.05):
                break
        await asyncio.sleep(0.003)


class RunsFree(Whims):
    async def run(self) -> None:
        while not happens(0.2):
            await self.connected.wait()
            while self.connected.is_set():
                await self.follow_a_whim()
                await self.emit(picture())
                await asyncio.sleep(0)
