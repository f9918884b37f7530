"""A steerable generated world: the pipeline shape, with state, commands, messages and sound."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from landscape import SIDE, Camera, Landscape
from numpy.typing import NDArray

from reactor_runtime import (
    Audio,
    CommandError,
    InputField,
    InputState,
    MessageField,
    ModelMessage,
    Output,
    ReactorPipeline,
    Video,
    event,
)

WIDTH, HEIGHT, FPS = 640, 360, 24
SAMPLE_RATE = 48_000
SAMPLES = SAMPLE_RATE // FPS
PLACES = {"origin": (0.0, 0.0), "ridge": (300.0, 120.0), "far side": (SIDE / 2, SIDE / 2)}


class WorldState(InputState):
    """What a viewer steers; each public field is a command, ``set_speed`` and so on."""

    world: str = InputField(
        default="a quiet valley", max_length=80, description="Describe it; the text is the seed."
    )
    palette: Literal["meadow", "desert", "arctic", "neon"] = InputField(
        default="meadow", description="What it is made of."
    )
    speed: float = InputField(default=0.5, ge=0, le=3, description="Cells per frame.")
    turn: float = InputField(default=0.05, ge=-1, le=1, description="Left or right.")
    altitude: float = InputField(default=60, ge=10, le=200, description="Height above ground.")
    sun: float = InputField(default=0.9, ge=0, le=1, description="Night to noon.")
    fog: float = InputField(default=0.4, ge=0, le=1, description="Clear to thick.")
    wind: bool = InputField(default=True, description="Hear the wind.")
    _camera: Camera = Camera()


class Position(ModelMessage):
    """Answer to ``where``."""

    x: float = MessageField(description="Cells east.")
    y: float = MessageField(description="Cells south.")
    heading: float = MessageField(description="Radians, clockwise from east.")
    height: float = MessageField(description="Of the ground, 0 to 1.")


class Traveled(ModelMessage):
    """Told to everybody when somebody travels."""

    place: str = MessageField(description="Where to.")


class WorldOutput(Output):
    """One picture and the sound of the same moment."""

    main_video: Video
    main_audio: Audio


class Worldlet(ReactorPipeline):
    """Flies over a landscape made from a text."""

    state: WorldState
    fps = FPS

    @event(description="Ask where we are.")
    def where(self) -> Position:
        """Answer the caller."""
        camera = self.state._camera
        height = self.landscape.height_at(camera.x, camera.y)
        return Position(x=camera.x, y=camera.y, heading=camera.heading, height=height)

    @event(description="Go to a place at once.")
    async def travel(
        self, place: str = InputField(default="ridge", choices=[*PLACES, "nowhere"])
    ) -> None:
        """Move everybody, and tell everybody."""
        if place not in PLACES:
            raise CommandError("no_such_place", f"{place} is not on the map")
        x, y = PLACES[place]
        self.state._camera = replace(self.state._camera, x=x, y=y)
        await self.send(Traveled(place=place))

    @event(description="Turn around.")
    def turn_around(self) -> None:
        """Look the other way."""
        camera = self.state._camera
        self.state._camera = replace(camera, heading=camera.heading + math.pi)

    def load(self, config_path: object) -> None:
        """Make the first world, so that the first viewer does not wait for it."""
        self.landscape = Landscape("a quiet valley", "meadow", WIDTH, HEIGHT)
        self._made_of = ("a quiet valley", "meadow")

    def inference(self):
        """Yield one frame and its sound for each turn."""
        noise = np.random.default_rng(self.seed)
        low = 0.0
        while True:
            self._follow_the_text()
            camera = self._move()
            picture = self.landscape.draw(camera, sun=self.state.sun, fog=self.state.fog)
            sound, low = self._blow(noise, low)
            yield WorldOutput(main_video=picture, main_audio=sound)

    def _follow_the_text(self) -> None:
        wanted = (self.state.world, self.state.palette)
        if wanted == self._made_of:
            return
        if wanted[0] != self._made_of[0]:
            self.landscape = Landscape(*wanted, WIDTH, HEIGHT)
        else:
            self.landscape.recolor(wanted[1])
        self._made_of = wanted

    def _move(self) -> Camera:
        state, old = self.state, self.state._camera
        heading = old.heading + 0.04 * state.turn
        state._camera = Camera(
            x=(old.x + math.cos(heading) * state.speed) % SIDE,
            y=(old.y + math.sin(heading) * state.speed) % SIDE,
            heading=heading,
            altitude=old.altitude + 0.1 * (state.altitude - old.altitude),
        )
        return state._camera

    def _blow(self, noise: np.random.Generator, low: float) -> tuple[NDArray[np.float32], float]:
        """Return one frame of wind, (1, SAMPLES) float32, and the filter's state."""
        if not self.state.wind:
            return np.zeros((1, SAMPLES), np.float32), 0.0
        gust = noise.standard_normal(SAMPLES // 20)
        smooth = np.interp(np.arange(SAMPLES) / 20, np.arange(-1, len(gust)), [low, *gust])
        loudness = 0.02 + 0.05 * min(1.0, self.state.speed)
        return (loudness * smooth).astype(np.float32)[None, :], float(gust[-1])
