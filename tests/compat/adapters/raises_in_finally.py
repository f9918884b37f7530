"""Generators whose cleaning up fails: when they end by themselves, and when they are closed."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorPipeline


class CleanState(InputState):
    finish: bool = False
    fails: bool = False


class RaisesInFinally(ReactorPipeline):
    state: CleanState
    fps = 20

    def inference(self) -> Iterator[Picture]:
        try:
            while not self.state.finish:
                yield Picture(main_video=grey(90))
        finally:
            if self.state.fails:
                raise OSError("the cleaning up failed")
