"""Commands and hooks of a base class, some overridden."""

from reactor_runtime import InputState, ModelMessage, ReactorModel, event, session_started


class Said(ModelMessage):
    words: str


class BaseState(InputState):
    level: int = 1
    speed: float = 2.0


class FineState(BaseState):
    speed: float = 5.0
    extra: str = "more"


class Base(ReactorModel):
    started_by = ""

    @session_started
    def begin(self) -> None:
        self.started_by = "base"

    @event
    def inherited(self) -> Said:
        return Said(words=f"base, started by {self.started_by}")

    @event
    def overridden(self, word: str) -> Said:
        return Said(words=f"base {word}")

    @event
    def no_command_any_more(self) -> Said:
        return Said(words="base")


class InheritsCommands(Base):
    state: FineState

    def begin(self) -> None:
        super().begin()
        self.started_by += " and heir"

    @event
    def overridden(self, word: str, times: int = 2) -> Said:
        state = self.state
        return Said(words=f"heir {word * times} {state.level} {state.speed:g} {state.extra}")

    def generate(self, input: object) -> None:
        return None
