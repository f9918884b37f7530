"""Emits what it is told to; a thread of its own flushes when a named pipe says so."""

import asyncio
import threading
from pathlib import Path

from tests.models.parts import Note, Picture, flat

from reactor_runtime import ReactorModel, event, session_started


class FlushesFromAThread(ReactorModel):
    @session_started
    def begin(self) -> None:
        self.values: list[int] = []

    async def run(self) -> None:
        async for _ in self.turns():
            values, self.values = self.values, []
            await self.show(values)

    @event
    async def show(self, values: list[int]) -> None:
        for value in values:
            await self.emit(Picture(main_video=flat(value)))

    @event
    def show_in_a_step(self, values: list[int]) -> None:
        self.values = values

    @event
    def flush_at(self, pipe: str) -> None:
        if self.is_leader:
            threading.Thread(target=self.wait_and_flush, args=(pipe,)).start()

    def wait_and_flush(self, pipe: str) -> None:
        Path(pipe).read_bytes()  # until somebody has opened and closed the other end
        self.output.flush()
        asyncio.run(self.send(Note(text="flushed")))
