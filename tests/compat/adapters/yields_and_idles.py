"""A plain generator that shows something every third time and nothing else between."""

from collections.abc import Iterator
from typing import Any

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import Idle, InputState, ReactorPipeline


class IdleState(InputState):
    level: int = 60


class YieldsAndIdles(ReactorPipeline):
    state: IdleState
    fps = 20.0

    def inference(self) -> Iterator[Any]:
        while True:
            yield None
            yield Idle
            yield Picture(main_video=grey(self.state.level))
