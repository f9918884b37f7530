"""Its clock is the microphone: a step waits inside for sound and shows how much it got."""

import asyncio

import numpy as np
from tests.models.parts import Note

from reactor_runtime import (
    Audio,
    BufferClosed,
    InputState,
    MediaInput,
    Output,
    ReactorPipeline,
    ReadMode,
    event,
    session_ended,
)


class Sources(MediaInput):
    mic: Audio


class Voice(Output):
    voice: Audio


class ReadState(InputState):
    timeout: float | None = None
    catch: bool = False


class ReadsAMicrophone(ReactorPipeline):
    state: ReadState
    sources: Sources

    async def inference(self):  # type: ignore[no-untyped-def]
        while True:
            await self.send(Note(text="listening"))
            try:
                frames = await self.sources.mic.read(
                    2, timeout=self.state.timeout, mode=ReadMode.FIFO
                )
            except TimeoutError:
                await self.send(Note(text="timed out"))
                yield None
                continue
            except BufferClosed:
                await self.send(Note(text="closed"))
                if self.state.catch:
                    return
                raise
            await self.send(Note(text="heard"))
            yield Voice(voice=np.concatenate([frame.data for frame in frames], axis=1))

    @event
    async def note(self, text: str) -> None:
        await asyncio.sleep(0)
        await self.send(Note(text=text))

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text="ended"))
