"""Has the older form of ``load``, which takes the parsed configuration."""

from typing import Any

from tests.models.parts import Note

from reactor_runtime import ReactorModel, event


class TakesAConfig(ReactorModel):
    def load(self, config: dict[str, Any]) -> None:  # type: ignore[override]
        self.config = config

    def warmup(self, steps: int) -> None:
        raise AssertionError("an author's own method of that name, which takes arguments")

    @event
    def tell(self) -> Note:
        return Note(text=repr(self.config))

    def generate(self, input: Any) -> None:
        return None
