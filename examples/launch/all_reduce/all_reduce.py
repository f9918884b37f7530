"""Every rank gives its number; every rank gets the sum of all."""

import os
from pathlib import Path

import torch
import torch.distributed as dist

dist.init_process_group(os.environ["REACTOR_COMM_BACKEND"])
rank, world_size = dist.get_rank(), dist.get_world_size()
total = torch.tensor([rank])
dist.all_reduce(total)
print(f"rank {rank} of {world_size}: the sum is {total.item()}")  # noqa: T201 - its one purpose
Path(f"sum-{rank}.txt").write_text(f"{total.item()}\n")
dist.destroy_process_group()
