"""Talks from a task of its own while a session lasts, whether anything happens in it or not."""

import asyncio
from typing import Any

from tests.models.parts import Note

from reactor_runtime import ReactorModel, session_ended, session_started


class HumsAlong(ReactorModel):
    @session_started
    async def begin(self) -> None:
        self.humming = asyncio.create_task(self.hum())

    @session_ended
    async def end(self) -> None:
        self.humming.cancel()

    async def hum(self) -> None:
        while True:
            await asyncio.sleep(0.01)
            await self.send(Note(text="hum"))

    def generate(self, input: Any) -> None:
        return None
