"""Every way to read an input buffer."""

import asyncio

from tests.compat.adapters.paint import Picture

from reactor_runtime import (
    BufferClosed,
    InputBuffer,
    InputFrame,
    MediaInput,
    ModelMessage,
    ReactorModel,
    ReadMode,
    Video,
    event,
)


class Eye(MediaInput):
    camera: Video


class Counts(ModelMessage):
    received: int
    available: int
    is_closed: bool
    is_empty: bool


class ReadsAsItLikes(ReactorModel):
    eye: Eye
    last = None

    async def run(self) -> None:
        async for _ in self.turns():
            camera: InputBuffer = self.eye.camera
            assert list(Eye.__tracks__) == ["camera"]
            if self.last is None:
                frames = await camera.read(2, timeout=20, mode=ReadMode.FIFO)
            else:
                frames = camera.try_read(1, mode=ReadMode.LATEST) or []
                await asyncio.sleep(0)
            for frame in frames:
                assert isinstance(frame, InputFrame)
                assert frame.data.dtype.name == "uint8"
                assert frame.capture_time_us is None or frame.capture_time_us >= 0
                self.last = frame.data
                await self.emit(Picture(main_video=frame.data))

    @event
    def counts(self) -> Counts:
        camera = self.eye.camera
        camera.clear()
        is_empty = False
        try:
            is_empty = camera.try_read() is None
        except BufferClosed:
            is_empty = True
        return Counts(
            received=camera.total_received,
            available=camera.available,
            is_closed=camera.closed,
            is_empty=is_empty,
        )
