"""A generator that ends after two pictures and is begun anew."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorPipeline


class EndState(InputState):
    rounds: int = 0
    _cleaned: int = 0


class EndsAndBeginsAgain(ReactorPipeline):
    state: EndState
    fps = 20

    def inference(self) -> Iterator[Picture]:
        self.state.rounds += 1
        try:
            yield Picture(main_video=grey(20 * self.state.rounds))
            yield Picture(main_video=grey(20 * self.state.rounds + 10))
        finally:
            self.state._cleaned += 1
        assert self.state._cleaned == self.state.rounds
        if self.state.rounds == 6:
            self.state.rounds = 0
            self.state._cleaned = 0
