"""Models of known speed. Every picture bears the time (ms) or the step at which it was made."""

import asyncio
import time

import numpy as np
from tests.models.burnt_number import HEIGHT, RANGE, WIDTH, burn, read_number

from reactor_runtime import (
    InputState,
    MediaInput,
    ModelMessage,
    Output,
    ReactorModel,
    Video,
    event,
)


def now_ms() -> int:
    """The time on a clock that every process of this machine shares."""
    return int(time.monotonic() * 1000) % RANGE


class Picture(Output):
    main_video: Video


class Camera(MediaInput):
    webcam: Video


class Looked(ModelMessage):
    at_ms: int
    stamp: int


class Count(ModelMessage):
    steps: int


def picture_of(number: int, *, level: int = 90) -> np.ndarray:
    picture = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    burn(picture, number)
    return picture


class LooksTwiceASecond(ReactorModel):
    """Reads a camera at 2 fps; says which picture it took and shows its stamp."""

    camera: Camera

    async def generate(self, input: object) -> Picture | None:
        frames = self.camera.webcam.try_read()
        if frames is None:
            return None
        stamp = read_number(frames[0].data)
        await self.send(Looked(at_ms=now_ms(), stamp=stamp))
        await asyncio.sleep(0.5)
        return Picture(main_video=picture_of(stamp))


class EmitsTooOften(ReactorModel):
    """Makes 60 pictures a second for a track of 10, and drops what does not fit."""

    fps = 10

    async def run(self) -> None:
        while True:
            await self.connected.wait()
            await self.emit(Picture(main_video=picture_of(now_ms())), drop=True)
            await asyncio.sleep(1 / 60)


class FlagState(InputState):
    flag: bool = False


class StepsFast(ReactorModel):
    """A step of a millisecond at 15 fps; the picture bears its step and the flag."""

    state: FlagState
    fps = 15
    chunk = 1

    def load(self, config_path: object) -> None:
        self.steps = 0

    @event
    def count(self) -> Count:
        return Count(steps=self.steps)

    def generate(self, state: FlagState) -> Picture:
        time.sleep(0.001)
        level = 230 if state.flag else 90
        frames = [picture_of(self.steps * self.chunk + k, level=level) for k in range(self.chunk)]
        self.steps += 1
        return Picture(main_video=np.stack(frames))


class StepsInChunks(StepsFast):
    """The same in chunks of twelve."""

    chunk = 12
