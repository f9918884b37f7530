"""A thread of the author's that looks at the state all the time, session or not."""

import threading
from typing import Any

from reactor_runtime import InputState, ModelMessage, ReactorModel, event


class WatchedState(InputState):
    level: int = 3


class Watched(ModelMessage):
    level: int
    is_alive: bool


class WatchesFromAThread(ReactorModel):
    state: WatchedState

    def load(self, config_path: Any) -> None:
        self.seen = threading.Event()
        self.level = 0
        self.thread = threading.Thread(target=self.watch, name="watcher", daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while True:
            state = self.state  # None between sessions
            if state is not None and state.level != self.level:
                self.level = state.level
                self.seen.set()
            threading.Event().wait(0.005)

    @event
    def what_was_seen(self) -> Watched:
        assert self.seen.wait(10)
        return Watched(level=self.level, is_alive=self.thread.is_alive())

    def generate(self, input: object) -> None:
        return None
