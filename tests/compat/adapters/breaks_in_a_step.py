"""A generator that raises when it is told to, and so does a session's start."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorPipeline, session_started


class BreakState(InputState):
    breaks: bool = False
    spoil_the_next: bool = False


class BreaksInAStep(ReactorPipeline):
    state: BreakState
    fps = 20
    spoilt = False

    @session_started
    async def begin(self) -> None:
        spoilt, self.spoilt = self.spoilt, False
        if spoilt:
            raise RuntimeError("spoilt beforehand")

    def inference(self) -> Iterator[Picture]:
        while True:
            if self.state.breaks:
                raise ZeroDivisionError("broke on purpose")
            self.spoilt = self.state.spoil_the_next
            yield Picture(main_video=grey(75))
