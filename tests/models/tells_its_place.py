"""Tells, when asked, what it knew of its place in the world at each moment of its life."""

from pathlib import Path
from typing import Any

from tests.models.parts import Note

from reactor_runtime import ReactorModel, event


class TellsItsPlace(ReactorModel):
    def __init__(self) -> None:
        self.life = ["init"]

    async def load(self, config_path: Path | None) -> None:
        place = (self.rank, self.world_size, self.local_rank, self.device, self.is_leader)
        self.life.append(f"load {config_path and config_path.name} {place}")

    def warmup(self) -> None:
        self.life.append("warmup")

    @event
    def tell(self) -> Note:
        return Note(text="; ".join(self.life))

    @event
    def tell_seed(self) -> Note:
        return Note(text=str(self.seed))

    def generate(self, input: Any) -> None:
        return None
