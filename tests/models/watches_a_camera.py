"""Looks at its camera twice in a slow step, and tells what it saw and lost."""

import asyncio
from typing import Any

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, MediaInput, ReactorModel, Video, event


class Sources(MediaInput):
    camera: Video


class CameraState(InputState):
    pause: bool = True


class WatchesACamera(ReactorModel):
    state: CameraState
    eyes: Sources

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def generate(self, state: CameraState) -> Picture | None:
        before = self.eyes.camera.available
        seen = self.eyes.camera.try_read()
        await self.send(Note(text=f"step {before}"))
        await asyncio.sleep(0.05 if state.pause else 0)
        await self.send(Note(text=f"later {self.eyes.camera.available}"))
        return Picture(main_video=flat(int(seen[0].data.flat[0]))) if seen else None

    @event
    def counts(self) -> Note:
        camera: Any = self.eyes.camera
        return Note(text=f"{camera.available} {camera.total_received} {camera.dropped}")
