"""A picture and a tone for the page: every kind of control, and the camera's negative."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reactor_runtime import (
    Audio,
    CommandError,
    InputField,
    InputState,
    MediaInput,
    MessageField,
    ModelMessage,
    Output,
    ReactorModel,
    UploadedFile,
    Video,
    event,
)

FPS = 24
SAMPLES = 48_000 // FPS
WIDTH, HEIGHT = 320, 180
MARK = 20


class PaintedState(InputState):
    red: int = InputField(default=40, ge=0, le=255, description="How much of it.")
    title: str = InputField(default="untitled", max_length=60)
    shape: Literal["plain", "stripes"] = InputField(default="plain")
    dark: bool = InputField(default=False)
    stencil: UploadedFile | None = InputField(default=None)
    points: list[list[float]] = InputField(default=(), description="Any number of [x, y].")


class Sources(MediaInput):
    webcam: Video


class Painting(Output):
    main_video: Video
    tone: Audio


class Answer(ModelMessage):
    text: str = MessageField(description="What was asked, in capitals.")


class Announced(ModelMessage):
    text: str


class Painted(ReactorModel):
    """Paints what it is told."""

    state: PaintedState
    sources: Sources
    fps = FPS

    def load(self, config_path: object) -> None:
        self.is_broken = False
        self.mark = 0
        self.samples = 0
        self.negative: NDArray[np.uint8] | None = None

    @event(description="Answers in capitals.")
    def ask(self, text: str = InputField(min_length=1, max_length=200)) -> Answer:
        return Answer(text=text.upper())

    @event
    async def announce(self) -> None:
        await self.send(Announced(text="to everybody"))

    @event
    def move_left(self) -> None:
        self.mark = max(0, self.mark - 1)

    @event
    def move_right(self) -> None:
        self.mark = min(WIDTH // MARK - 1, self.mark + 1)

    @event
    def refuse(self) -> None:
        raise CommandError("too_early", "Come back later")

    @event
    def break_handler(self) -> None:
        raise ValueError("a secret detail")

    @event
    def break_step(self) -> None:
        self.is_broken = True

    def generate(self, state: PaintedState) -> Painting:
        if self.is_broken:
            self.is_broken = False
            raise ValueError("the brush broke on purpose")
        return Painting(main_video=self._paint(state), tone=self._sing())

    def _paint(self, state: PaintedState) -> NDArray[np.uint8]:
        """Fill the picture.

        The mark is white at the top, the camera's negative at the right; the first three bytes of
        the stencil are the colour of the corner below at the left.
        """
        picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        picture[:] = (state.red, 40, 0 if state.dark else 120)
        if state.shape == "stripes":
            picture[::8] = 0
        picture[:MARK, MARK * self.mark : MARK * (self.mark + 1)] = 255
        if seen := self.sources.webcam.try_read():
            self.negative = 255 - seen[0].data.reshape(-1, 3).mean(axis=0).astype(np.uint8)
        if self.negative is not None:
            picture[MARK:, 3 * WIDTH // 4 :] = self.negative
        if state.stencil is not None:
            picture[-2 * MARK :, : 2 * MARK] = tuple(state.stencil.data[:3])
        return picture

    def _sing(self) -> NDArray[np.float32]:
        time_s = (self.samples + np.arange(SAMPLES)) / 48_000
        self.samples += SAMPLES
        return (0.2 * np.sin(2 * np.pi * 440 * time_s)).astype(np.float32)[None]
