"""Raises in its first step, before anything was shown."""

from collections.abc import Iterator

from tests.models.parts import Picture, flat

from reactor_runtime import InputState, ReactorPipeline


class Nothing(InputState):
    pass


class BreaksAtOnce(ReactorPipeline):
    state: Nothing

    def inference(self) -> Iterator[Picture]:
        raise ValueError("boom in the first step")
        yield Picture(main_video=flat(0))
