"""Returns, when told to, what cannot be shown."""

from typing import Any

import numpy as np
from tests.models.gives_wrong_things import Shot, WrongState
from tests.models.parts import flat

from reactor_runtime import ReactorModel, event


class ReturnsWrongThings(ReactorModel):
    state: WrongState
    outputs: Shot

    @event
    def arm(self, way: str) -> None:
        self.state._way = way

    def generate(self, state: WrongState) -> Any:  # array, shape
        if state._way == "array":
            return flat(1)
        return Shot(main=flat(1) if not state._way else np.zeros((4, 6), np.uint8))
