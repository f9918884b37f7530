"""Gives, when told to, what cannot be shown; each line that does so bears the name of the way."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.models.parts import flat

from reactor_runtime import InputState, Output, ReactorPipeline, Shard, Video, event


class Shot(Output):
    main: Video


class WrongState(InputState):
    _way: str = ""


class GivesWrongThings(ReactorPipeline):
    state: WrongState
    outputs: Shot

    @event
    def arm(self, way: str) -> None:
        self.state._way = way

    def inference(self) -> Iterator[Any]:
        while True:
            if self.state._way == "array":
                yield flat(1)  # array
            if self.state._way == "shape":
                yield Shot(main=np.zeros((4, 6), np.uint8))  # shape
            if self.state._way == "inner":
                yield from self.inner()
            if self.state._way == "shard":
                yield Shot(main=Shard(flat(1), axis="columns"))  # type: ignore[arg-type]  # shard
            yield Shot(main=flat(1))

    def inner(self) -> Iterator[Any]:
        yield {"main": flat(1)}  # inner
