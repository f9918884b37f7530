"""A thread of the author's that does not expect the state to be gone between sessions."""

import threading
from typing import Any

from reactor_runtime import InputState, ReactorModel


class GoneState(InputState):
    level: int = 3


class DiesInAThread(ReactorModel):
    state: GoneState

    def load(self, config_path: Any) -> None:
        threading.Thread(target=self.watch, name="unaware", daemon=True).start()

    def watch(self) -> None:
        while self.state.level:
            threading.Event().wait(0.005)

    def generate(self, input: object) -> None:
        return None
