"""Hooks that raise: every kind but the one that starts a session."""

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import (
    InputState,
    ReactorPipeline,
    connected,
    disconnected,
    session_ended,
)


class BrokenState(InputState):
    level: int = 60


class SurvivesBrokenHooks(ReactorPipeline):
    state: BrokenState
    fps = 20

    @connected
    def came(self) -> None:
        raise ValueError("broken when somebody came")

    @disconnected
    async def went(self) -> None:
        raise ValueError("broken when somebody went")

    @session_ended
    def ended(self) -> None:
        raise ValueError("broken at the end")

    def inference(self):  # type: ignore[no-untyped-def]  # as authors write
        while True:
            yield Picture(main_video=grey(self.state.level))
