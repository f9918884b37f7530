"""``@dataclass`` on a state and on an Output, and a dataclass as an argument."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reactor_runtime import (
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorPipeline,
    Video,
    event,
)


@dataclass
class Pose:
    pan: float
    names: list[str] = field(default_factory=list)


@dataclass
class PosedState(InputState):
    level: int = InputField(default=30, ge=0, le=255)
    _history: tuple[float, ...] = ()


@dataclass
class PosedOutput(Output):
    main_video: Video


@dataclass
class Posed(ModelMessage):
    pan: float
    history: list[float]


class DecoratedAsDataclasses(ReactorPipeline):
    state: PosedState

    fps = 20

    @event
    def pose(self, pose: Pose) -> Posed:
        self.state._history = (*self.state._history, pose.pan)
        return Posed(pan=pose.pan, history=list(self.state._history))

    def inference(self) -> Iterator[PosedOutput]:
        while True:
            picture: Any = np.full((48, 64, 3), self.state.level, np.uint8)
            yield PosedOutput(main_video=picture)
