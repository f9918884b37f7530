"""Shows something else where a step failed, and reports what happened."""

from typing import Any

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorModel, StepCompleted, StepOutcome


class RiskState(InputState):
    fails: bool = False


class DecidesAboutErrors(ReactorModel):
    state: RiskState
    fps = 20

    def generate(self, input: RiskState) -> Picture:
        if input.fails:
            raise ArithmeticError("no picture this time")
        return Picture(main_video=grey(50))

    def process_output(self, outcome: StepOutcome) -> Any:
        if outcome.error is None:
            return outcome.to_output()
        return StepCompleted(
            output=Picture(main_video=grey(180)),
            files={"why.txt": str(outcome.error).encode()},
            error=outcome.error,
            elapsed=outcome.elapsed,
        )
