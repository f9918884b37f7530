"""Relative imports inside a package below its manifest."""

from reactor_runtime import InputState, ReactorApp, event

from .messages import Level
from .painting import paint


class WorldState(InputState):
    level: int = 77


class WorldApp(ReactorApp):
    state: WorldState
    fps = 20

    def load(self, config_path):
        assert config_path.name == "config.yaml"
        assert config_path.exists()

    @event
    def ask(self) -> Level:
        from . import messages

        return messages.Level(level=self.state.level)

    def generate(self, input):
        return paint(input.level)
