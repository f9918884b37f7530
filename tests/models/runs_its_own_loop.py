"""Written for a plain script: before serving it runs event loops of its own, three ways."""

import asyncio
from contextvars import ContextVar
from typing import Any

import numpy as np
from tests.models.parts import Note, Picture

from reactor_runtime import ReactorModel, event

MOOD: ContextVar[str] = ContextVar("MOOD", default="none")


async def fetch(what: str) -> str:
    await asyncio.sleep(0)
    return what


class RunsItsOwnLoop(ReactorModel):
    def __init__(self) -> None:
        self.fetched = [asyncio.run(fetch("construct"))]

    def load(self, config_path: Any) -> None:
        self.loop = asyncio.get_event_loop()
        self.fetched.append(self.loop.run_until_complete(fetch("get")))
        self.fetched.append(asyncio.run(fetch("run")))
        own = asyncio.new_event_loop()
        self.fetched.append(own.run_until_complete(fetch("new")))
        own.close()
        asyncio.run(self.emit(Picture(main_video=np.zeros((4, 4, 3), np.uint8))))
        asyncio.run(self.send(Note(text="nobody hears this")))
        MOOD.set("loaded")

    async def warmup(self) -> None:
        self.fetched.append(await fetch("warmup"))
        MOOD.set(f"{MOOD.get()} and warm")

    @event
    async def tell(self) -> Note:
        same = self.loop is asyncio.get_running_loop()
        return Note(text=f"{' '.join(self.fetched)}; {MOOD.get()}; same loop: {same}")

    @event
    def run_one_now(self) -> None:
        never = fetch("never")
        try:
            asyncio.run(never)
        finally:
            never.close()

    def generate(self, input: Any) -> None:
        return None
