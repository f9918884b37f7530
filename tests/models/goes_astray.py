"""Does on one rank, when told, what no rank may do; else shows its step count."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.models.parts import Note, Picture, flat

from reactor_runtime import ApplicationError, CommandError, ReactorModel, event, session_ended


def fail() -> None:
    raise ValueError("a secret detail")


def refuse() -> None:
    raise CommandError("not_here", "on this rank")


def wait_for_ever() -> None:
    while True:
        time.sleep(1)


def die_later() -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()


WAYS: dict[str, Callable[[], None]] = {
    "fail": fail,
    "refuse": refuse,
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "hang": wait_for_ever,
    "die_later": die_later,
}


class GoesAstray(ReactorModel):
    def __init__(self) -> None:
        self.armed = self.refuses = ""
        self.steps = 0

    @event
    def now(self, way: str, rank: int) -> None:
        if rank in (self.rank, -1):
            WAYS[way]()

    @event
    def in_step(self, way: str, rank: int) -> None:
        if rank in (self.rank, -1):
            self.armed = way

    @event
    def refuse_steps(self, rank: int) -> None:
        self.refuses = "not ready" if rank == self.rank else ""

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text="ended"))

    def process_input(self) -> None:
        if self.refuses:
            raise ApplicationError(self.refuses)

    def generate(self, input: Any) -> Picture:
        way, self.armed = self.armed, ""
        if way:
            WAYS[way]()
        self.steps += 1
        return Picture(main_video=flat(self.steps))
