"""A step waits for two inputs at once, of which one may never come."""

import asyncio
from typing import Any

from tests.models.parts import Note

from reactor_runtime import Audio, InputState, MediaInput, ReactorPipeline, Video


class Sources(MediaInput):
    mic: Audio
    camera: Video


class WaitsForTwo(ReactorPipeline):
    state: InputState
    sources: Sources

    async def inference(self) -> Any:
        while True:
            await self.send(Note(text="listening"))
            await asyncio.gather(self._take("mic"), self._take("camera"))
            yield None

    async def _take(self, name: str) -> None:
        buffer = self.sources.mic if name == "mic" else self.sources.camera
        await buffer.read()
        await self.send(Note(text=f"{name} came"))
