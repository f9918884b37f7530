"""Workers with real collectives."""

import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from reactor_runtime.distributed.worker import DistributedWorker


class Sums(DistributedWorker):
    def generate_chunk(self, index: int, controls: Any) -> None:
        what, folder = controls
        result = getattr(self, what)()
        Path(folder, f"{what}{self.rank}").write_text(repr(result))

    def world(self) -> float:
        ones = torch.ones(1)
        dist.all_reduce(ones)
        return float(ones)

    def half(self) -> float:
        size = self.world_size // 2
        halves = [dist.new_group(list(range(size))), dist.new_group(list(range(size, 2 * size)))]
        ones = torch.ones(1)
        dist.all_reduce(ones, group=halves[self.rank // size])
        return float(ones)

    def mesh(self) -> float:
        from torch.distributed.device_mesh import init_device_mesh

        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
        ones = torch.ones(1)
        dist.all_reduce(ones, group=mesh["columns"].get_group())
        return float(ones)

    def drawn(self) -> list[float]:
        return [float(x) for x in torch.rand(3)]

    def broken(self) -> None:
        if self.rank == self.world_size - 1:
            time.sleep(0.1)
            raise ZeroDivisionError("in the middle")
        dist.all_reduce(torch.ones(1))

    def hung_up(self) -> None:
        """Fail so that the others hear of it in their collective first."""
        if self.rank == self.world_size - 1:
            dist.destroy_process_group()
            time.sleep(0.1)
            raise ZeroDivisionError("in the middle")
        try:
            dist.all_reduce(torch.ones(1))
        except RuntimeError as error:
            raise ValueError("could not add up") from error

    def loaded(self) -> list[str]:
        return sorted({"fastapi", "av", "aiortc"} & set(sys.modules))


class DiesInCollective(DistributedWorker):
    def generate_chunk(self, index: int, controls: Any) -> None:
        if self.rank == 1:
            import os

            os._exit(5)
        dist.all_reduce(torch.ones(1 << 18))
