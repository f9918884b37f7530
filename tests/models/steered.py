"""A flat picture whose colour is state, with commands for every kind of outcome."""

from pathlib import Path

import numpy as np

from reactor_runtime import (
    ClientInfo,
    CommandError,
    InputField,
    InputState,
    MediaInput,
    MessageField,
    ModelMessage,
    Output,
    ReactorModel,
    Video,
    connected,
    event,
)

COLORS = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 220)}


class SteeredState(InputState):
    color: str = InputField(default="red", choices=[*COLORS])
    level: int = InputField(default=0, ge=0, le=10)
    camera: bool = InputField(default=False)


class Echoed(ModelMessage):
    text: str = MessageField(description="What was sent.")


class Welcome(ModelMessage):
    client: str


class Announced(ModelMessage):
    text: str


class Sources(MediaInput):
    webcam: Video


class Picture(Output):
    main_video: Video


class Steered(ReactorModel):
    state: SteeredState
    sources: Sources
    fps = 24

    @connected
    async def greet(self, client: ClientInfo) -> None:
        await client.send(Welcome(client=client.id))

    @event
    def echo(self, text: str = InputField(max_length=1000)) -> Echoed:
        return Echoed(text=text)

    @event
    def nothing(self) -> None:
        pass

    @event
    async def announce(self, text: str) -> None:
        await self.send(Announced(text=text))

    @event
    def refuse(self) -> None:
        raise CommandError("too_early", "come back later")

    @event
    def break_handler(self) -> None:
        raise ValueError("a secret detail")

    @event
    def break_step(self) -> None:
        self.broken = True

    def load(self, config_path: Path | None) -> None:
        self.broken = False
        self.number = 0

    def generate(self, state: SteeredState) -> Picture:
        if self.broken:
            self.broken = False
            raise ValueError("the step broke on purpose")
        picture = np.empty((240, 320, 3), np.uint8)
        picture[:] = COLORS[state.color]
        picture[:, : 32 * state.level] //= 2
        if state.camera and (seen := self.sources.webcam.try_read()):
            picture[:] = seen[0].data.reshape(-1, 3).mean(axis=0)
            self.last = picture
        elif state.camera and hasattr(self, "last"):
            picture = self.last
        self.number += 1
        return Picture(main_video=picture)
