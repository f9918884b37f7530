"""Every import path of older repositories, on a ``ReactorApp`` with asynchronous hooks."""

from typing import Any

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime.interface import (
    CommandError,
    InputField,
    InputState,
    ModelMessage,
    ReactorApp,
    StepOutcome,
    event,
)
from reactor_runtime.interface.model import ModelContract
from reactor_runtime.interface.pipeline.idle import _IdleType
from reactor_runtime.log import get_logger
from reactor_runtime.paths import get_weights_path

logger = get_logger(__name__)


class PathState(InputState):
    level: int = InputField(default=80)


class Told(ModelMessage):
    commands: list[str]
    weights: str


class UsesOlderPaths(ReactorApp):
    state: PathState

    async def process_input(self) -> PathState:
        return self.state

    async def generate(self, input: PathState) -> Any:
        return Picture(main_video=grey(input.level))

    async def process_output(self, outcome: StepOutcome) -> Any:
        assert not isinstance(outcome.result, _IdleType)
        return outcome.to_output()

    @event(name="tell", description="What there is")
    async def say_what_there_is(self, more: bool = False) -> Told:
        if more:
            raise CommandError("enough", "there is no more")
        logger.info("asked", more=more)
        weights = get_weights_path("some-model")
        return Told(commands=sorted(ModelContract.of(type(self)).commands), weights=weights.name)
