"""A rate on the class, another in ``load()``, and another while it runs."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ModelMessage, ReactorPipeline, event


class RateState(InputState):
    pass


class Rate(ModelMessage):
    fps: float


class PinsItsRate(ReactorPipeline):
    state: RateState
    fps = 24.0
    buffer_size = 4

    def load(self, config_path) -> None:  # type: ignore[no-untyped-def]  # as authors write
        type(self).fps = 12.5

    @event
    def pace(self, fps: float) -> Rate:
        self.output.fps = fps
        return Rate(fps=self.output.fps)

    @event
    def rate(self) -> Rate:
        return Rate(fps=self.output.fps)

    def inference(self) -> Iterator[Picture]:
        while True:
            yield Picture(main_video=grey(85))
