"""Tells what numpy's global generator gives, at the start and in each step."""

from typing import Any

import numpy as np
from tests.models.parts import Note, Picture, flat

from reactor_runtime import ReactorModel, session_started


class DrawsRandomNumbers(ReactorModel):
    @session_started
    async def begin(self) -> None:
        await self.send(Note(text=f"{self.seed} {np.random.random():.12f}"))

    def generate(self, input: Any) -> Picture:
        return Picture(main_video=flat(int(np.random.randint(256))))
