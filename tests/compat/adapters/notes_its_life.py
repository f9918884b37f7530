"""Every hook, some plain and some asynchronous; keeps their order beyond the session."""

from reactor_runtime import (
    ClientInfo,
    InputState,
    ModelMessage,
    ReactorModel,
    connected,
    disconnected,
    event,
    session_ended,
    session_started,
)


class LifeState(InputState):
    level: int = 7


class Diary(ModelMessage):
    notes: list[str]


class NotesItsLife(ReactorModel):
    state: LifeState

    def load(self, config_path) -> None:  # type: ignore[no-untyped-def]  # as authors write
        self.notes = ["load"]
        assert self.state is None

    def warmup(self) -> None:
        self.notes.append("warmup")

    @session_started
    async def began(self) -> None:
        self.notes.append(f"started {self.state.level}")

    @connected
    def came(self) -> None:
        self.notes.append("connected")

    @disconnected
    async def went(self, client: ClientInfo) -> None:
        self.notes.append("disconnected")

    @session_ended
    def ended(self) -> None:
        self.notes.append(f"ended {self.state.level}")
        self.state.level = 1

    @event
    def diary(self) -> Diary:
        return Diary(notes=self.notes)

    def generate(self, input: object) -> None:
        return None
