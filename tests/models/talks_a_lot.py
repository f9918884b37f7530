"""Sends as much as it is told to, at once."""

import numpy as np

from reactor_runtime import InputState, ModelMessage, Output, ReactorModel, Video, event
from reactor_runtime.errors import MessageTooLargeError


class TalkState(InputState):
    pass


class Said(ModelMessage):
    number: int
    text: str


class Done(ModelMessage):
    number: int


class Refused(ModelMessage):
    text: str


class Picture(Output):
    main_video: Video


class TalksALot(ReactorModel):
    state: TalkState
    fps = 24

    @event
    async def talk(self, count: int, size: int) -> Done:
        for number in range(count):
            await self.send(Said(number=number, text="x" * size))
        return Done(number=count)

    @event
    async def say_one(self, size: int) -> Refused:
        try:
            await self.send(Said(number=0, text="x" * size))
        except MessageTooLargeError as error:
            return Refused(text=str(error))
        return Refused(text="")

    def generate(self, input: object) -> Picture:
        return Picture(main_video=np.zeros((48, 64, 3), np.uint8))
