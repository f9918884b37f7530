"""Raises what it is told to, at the moment it is told to."""

import asyncio
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

from tests.models.parts import Note

from reactor_runtime import (
    ClientInfo,
    CommandError,
    ReactorModel,
    connected,
    disconnected,
    event,
    session_ended,
    session_started,
)


class Code(Enum):
    BUSY = "busy"


class Whim(BaseException):
    """What no ``except Exception`` catches."""


class MuteError(RuntimeError):
    """Has no text: not even the log may ask for it."""

    def __str__(self) -> str:
        raise ValueError("no words")


class ExitsWhenShownError(Exception):
    """Ends whoever asks for its text."""

    def __str__(self) -> str:
        sys.exit(4)


class ExitsWhenCarriedError(Exception):
    """Ends whoever makes it again on the other side of a pipe."""

    def __reduce__(self) -> Any:
        return sys.exit, (5,)


def recurse() -> None:
    recurse()


async def exits(after_s: float = 0.0) -> None:
    await asyncio.sleep(after_s)
    sys.exit(7)


def fail_with(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


WAYS: dict[str, Callable[[], None]] = {
    "KeyboardInterrupt": fail_with(KeyboardInterrupt()),
    "SystemExit": fail_with(SystemExit(0)),
    "GeneratorExit": fail_with(GeneratorExit()),
    "StopIteration": fail_with(StopIteration(3)),
    "StopAsyncIteration": fail_with(StopAsyncIteration()),
    "CancelledError": fail_with(asyncio.CancelledError()),
    "Whim": fail_with(Whim()),
    "MuteError": fail_with(MuteError()),
    "ExitsWhenShownError": fail_with(ExitsWhenShownError()),
    "ExitsWhenCarriedError": fail_with(ExitsWhenCarriedError()),
    "MemoryError": fail_with(MemoryError()),
    "RecursionError": recurse,
    "ExceptionGroup": fail_with(ExceptionGroup("some", [ValueError("one")])),
}


class RaisesAnything(ReactorModel):
    def __init__(self) -> None:
        self.plan: dict[str, str] = {}
        self.background: asyncio.Task[None] | None = None

    def reach(self, moment: str) -> None:
        if way := self.plan.pop(moment, None):
            WAYS[way]()

    @event
    def at(self, moment: str, way: str) -> None:
        self.plan[moment] = way

    @event
    def fail(self, way: str) -> None:
        WAYS[way]()

    @event
    async def fail_later(self, way: str) -> None:
        await asyncio.sleep(0)
        WAYS[way]()

    @event
    def refuse(self) -> None:
        raise CommandError(Code.BUSY, "half \ud800")  # type: ignore[arg-type]

    @event
    async def cancel_me(self) -> None:
        this_task().cancel()
        await asyncio.sleep(0)

    @event
    def cancel_me_later(self) -> None:
        this_task().cancel()

    @event
    async def cancel_everything(self) -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    @event
    def cancel_everything_soon(self) -> None:
        def strike() -> None:
            for task in asyncio.all_tasks():
                task.cancel()

        asyncio.get_running_loop().call_later(0.05, strike)

    @event
    def stop_loop(self) -> None:
        asyncio.get_running_loop().stop()

    @event
    def exit_soon(self) -> None:
        asyncio.get_running_loop().call_soon(sys.exit, 6)

    @event
    async def exit_in_background(self) -> None:
        self.background = asyncio.create_task(exits())
        await asyncio.sleep(0.01)

    @event
    def exit_in_background_later(self) -> None:
        self.background = asyncio.create_task(exits(0.05))

    @event
    def echo(self, text: str) -> Note:
        return Note(text=text)

    @session_started
    def begin(self) -> None:
        self.reach("session_started")

    @connected
    async def came(self, client: ClientInfo) -> None:
        await asyncio.sleep(0)
        self.reach("connected")

    @disconnected
    def left(self) -> None:
        self.reach("disconnected")

    @session_ended
    async def finish(self) -> None:
        self.reach("session_ended")

    def process_input(self) -> None:
        self.reach("process_input")

    async def generate(self, input: Any) -> None:
        if self.plan.pop("cancel", None):
            this_task().cancel()
            await asyncio.sleep(0)
        self.reach("generate")

    async def process_output(self, outcome: Any) -> None:
        if outcome.error is not None:
            raise outcome.error
        self.reach("process_output")
