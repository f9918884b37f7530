"""Attributes and methods called as a runtime might call its own."""

from typing import Any

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ModelMessage, ReactorPipeline, event

NAMES = [
    "config",
    "engine",
    "_engine",
    "_config",
    "_device",
    "_model",
    "_lock",
    "_stop",
    "_epoch",
    "_fps",
    "_state_update",
    "_connected",
    "_serve",
    "session",
    "camera",
    "plan",
    "rank_zero",
    "host",
    "clock",
    "queue",
    "task",
    "contract",
    "outlet",
    "driver",
    "loop",
    "_loop",
    "thread",
    "_thread",
    "_state",
    "_output",
    "_tracks",
    "_runtime",
    "world",
    "turn",
    "frames",
    "seed_",
    "step_count",
]


class OwnState(InputState):
    level: int = 33


class Names(ModelMessage):
    lost: list[str]


class OwnsItsNames(ReactorPipeline):
    state: OwnState
    fps = 20

    def __init__(self) -> None:  # and never calls super().__init__()
        for name in NAMES:
            setattr(self, name, f"my {name}")

    def _build(self) -> str:
        return "built"

    def start(self) -> str:
        return "started"

    def stop(self) -> str:
        return "stopped"

    def step(self) -> str:
        return "stepped"

    def reset(self) -> str:
        return "reset"

    def pause(self) -> str:
        return "paused"

    def play(self) -> str:
        return "played"

    def move(self) -> str:
        return "moved"

    def get_state(self) -> Any:
        return self.state

    def run_plan(self) -> str:
        return self.plan  # type: ignore[attr-defined,no-any-return]

    @event
    def names(self) -> Names:
        words = [self._build(), self.start(), self.stop(), self.step(), self.reset()]
        words += [self.pause(), self.play(), self.move(), self.run_plan()]
        assert words[-1] == "my plan"
        assert self.get_state() is self.state
        return Names(lost=[name for name in NAMES if getattr(self, name) != f"my {name}"])

    def inference(self):  # type: ignore[no-untyped-def]  # as authors write
        while True:
            yield Picture(main_video=grey(self.state.level))
