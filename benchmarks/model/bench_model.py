"""The picture as a model.

Environment: BENCH_STEP_MS (pretend compute), BENCH_GIL_MS (real compute that holds the GIL),
BENCH_DEPTH (``buffer_size``).
"""

import os
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


class Bench(ReactorApp):
    state: State
    fps = FPS
    if DEPTH:
        buffer_size = DEPTH

    def load(self, config_path):
        self.pattern = Pattern()
        self.number = 0

    @event(name="echo", description="Send it back.")
    def echo(self, text: str = InputField(default="", max_length=1 << 16)) -> Echoed:
        return Echoed(text=text)

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
