"""Pins its rate when it loads, replaces its state in mid-session, and keeps a Mock for a stream."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

from tests.models.parts import Note, Picture, flat

from reactor_runtime import InputState, ReactorPipeline, event


class Level(InputState):
    level: int = 7
    _private: str = "mine"


class ChangesItself(ReactorPipeline):
    state: Level

    def load(self, config_path: Path | None) -> None:
        type(self).fps = 12.5  # type: ignore[attr-defined]
        self.output = Mock()

    @event
    def renew(self, level: int) -> None:
        self.state = Level(level=level, _private="new")
        setattr(self.state, "_private", getattr(self.state, "_private") + "er")  # noqa: B009, B010

    @event
    def tell(self) -> Note:
        self.output.flush()
        flushed = self.output.flush.call_count
        return Note(text=f"{self.state.level} {self.state._private} {flushed}")

    def inference(self) -> Any:
        while True:
            yield Picture(main_video=flat(self.state.level))
