"""A command called ``run``, and handlers called ``start``, ``stop``, ``step`` and ``reset``."""

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ModelMessage, ReactorPipeline, event


class MachineState(InputState):
    is_running: bool = False
    position: int = 0


class Position(ModelMessage):
    position: int
    is_running: bool


class IsToldToRun(ReactorPipeline):
    state: MachineState
    fps = 20

    @event(name="run")
    async def run_the_machine(self) -> Position:
        return self.where()

    @event
    def start(self) -> Position:
        self.state.is_running = True
        return self.where()

    @event
    async def stop(self) -> Position:
        self.state.is_running = False
        return self.where()

    @event
    def step(self, by: int = 1) -> Position:
        self.state.position += by
        return self.where()

    @event
    def reset(self) -> Position:
        self.state.position = 0
        return self.where()

    def where(self) -> Position:
        return Position(position=self.state.position, is_running=self.state.is_running)

    def inference(self):  # type: ignore[no-untyped-def]  # as authors write
        while True:
            yield Picture(main_video=grey(120 if self.state.is_running else 30))
