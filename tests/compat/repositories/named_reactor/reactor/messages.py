"""More of the package."""

from reactor_runtime import ModelMessage


class Level(ModelMessage):
    level: int
