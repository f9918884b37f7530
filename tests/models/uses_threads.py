"""Talks from a thread of its own, and looks at the state from there, session or not."""

import asyncio
import threading
from typing import Any

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorModel, event


class ThreadState(InputState):
    level: int = 3


class UsesThreads(ReactorModel):
    state: ThreadState

    def load(self, config_path: Any) -> None:
        self.look_in_thread()

    def in_thread(self, work: Any) -> None:
        thread = threading.Thread(target=work, name="author-thread")
        thread.start()
        thread.join()

    def look_in_thread(self) -> None:
        self.in_thread(lambda: setattr(self, "seen", self.state))

    @event
    async def talk(self, text: str) -> None:
        def work() -> None:
            asyncio.run(self.send(Note(text=f"{text} {self.state.level}")))

        self.in_thread(work)

    @event
    async def show(self) -> None:
        def work() -> None:
            asyncio.run(self.emit(Picture(main_video=flat(77))))

        await asyncio.to_thread(work)

    def generate(self, input: Any) -> None:
        return None
