"""The step hooks, with a refusal until a client says go."""

from typing import Any

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import ApplicationError, InputField, InputState, ReactorModel, StepOutcome


class HookState(InputState):
    level: int = InputField(default=40, ge=0, le=255, description="How bright")
    ready: bool = False


class StepsByHooks(ReactorModel):
    state: HookState

    def process_input(self) -> int:
        if not self.state.ready:
            raise ApplicationError("nobody has said go")
        return self.state.level

    def generate(self, input: Any) -> Picture:
        return Picture(main_video=grey(input))

    def process_output(self, outcome: StepOutcome) -> Any:
        assert outcome.error is None
        assert outcome.elapsed >= 0
        assert outcome.result is not None
        return outcome.to_output()
