"""As ``keeps_in_step``, with a collective in every step: one rank too few in it, and all hang."""

import torch
import torch.distributed as dist
from tests.models.keeps_in_step import KeepsInStep

from reactor_runtime.model.turn import Turn


class KeepsInStepTogether(KeepsInStep):
    def look(self, turn: Turn) -> int:
        total = torch.tensor([turn.number, self.state.level])
        dist.all_reduce(total)
        self.note("sum", total.tolist())
        return super().look(turn)
