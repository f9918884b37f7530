"""The picture as a model.

Environment: BENCH_STEP_MS (pretend compute), BENCH_GIL_MS (real compute that holds the GIL),
BENCH_DEPTH (``buffer_size``).
"""

import asyncio
import os
import threading
import time

from pattern import Pattern

from reactor_runtime import (
    InputField,
    InputState,
    MessageField,
    ModelMessage,
    Output,
    ReactorApp,
    Video,
    event,
)

STEP_S = float(os.environ.get("BENCH_STEP_MS", "0")) / 1e3
GIL_S = float(os.environ.get("BENCH_GIL_MS", "0")) / 1e3
DEPTH = int(os.environ.get("BENCH_DEPTH", "0"))
FPS = 24


class State(InputState):
    color: str = InputField(default="red", choices=["red", "green", "blue"])


class Out(Output):
    main_video: Video


class Echoed(ModelMessage):
    text: str = MessageField(description="What was sent.")


class Said(ModelMessage):
    number: int = MessageField(description="Counts the messages.")
    text: str = MessageField(description="As long as what models usually say.")


class Bench(ReactorApp):
    state: State
    fps = FPS
    if DEPTH:
        buffer_size = DEPTH

    def load(self, config_path):
        self.pattern = Pattern()
        self.number = 0
        self.quiet = threading.Event()

    @event(name="echo", description="Send it back.")
    def echo(self, text: str = InputField(default="", max_length=1 << 16)) -> Echoed:
        return Echoed(text=text)

    @event(name="broadcast", description="Tell everybody, so many times a second; 0 ends it.")
    def broadcast(self, rate: int = InputField(default=0, ge=0, le=1000)) -> None:
        self.quiet.set()
        self.quiet = threading.Event()
        if rate:
            talk = self.talk(rate, self.quiet)
            threading.Thread(target=asyncio.run, args=(talk,), daemon=True).start()

    async def talk(self, rate: int, quiet: threading.Event) -> None:
        begun, number = time.monotonic(), 0
        while not quiet.wait(max(0.0, begun + number / rate - time.monotonic())):
            await self.send(Said(number=number, text="x" * 64))
            number += 1

    def generate(self, input):
        if STEP_S:
            time.sleep(STEP_S)
        if GIL_S:
            until = time.thread_time() + GIL_S
            while time.thread_time() < until:
                sum(i * i for i in range(200))
        video = self.pattern.frame(self.number & 0xFFFF, input.color)
        self.number += 1
        return Out(main_video=video)
