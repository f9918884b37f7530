"""Does not get as far as serving: breaks in the phase that ``BREAK`` names."""

import os
import sys
from typing import Any

from reactor_runtime import ReactorModel


class BreaksBeforeServing(ReactorModel):
    def __init__(self) -> None:
        self.reach("construct")

    def load(self, config_path: Any) -> None:
        self.reach("load")
        if os.environ.get("BREAK") == "exit":
            sys.exit(3)
        if os.environ.get("BREAK") == "fps":
            type(self).fps = 0  # type: ignore[attr-defined]
        if os.environ.get("BREAK") == "buffer_size":
            type(self).buffer_size = 1.5  # type: ignore[attr-defined]

    async def warmup(self) -> None:
        self.reach("warmup")

    def reach(self, phase: str) -> None:
        if os.environ.get("BREAK") == phase:
            raise ValueError(f"broken in {phase}")

    def generate(self, input: Any) -> None:
        return None
