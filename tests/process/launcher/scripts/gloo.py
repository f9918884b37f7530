"""A rank with torch: all_reduce, then on one rank what it is told. gloo.py WHAT [RANK]."""

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

what = sys.argv[1]
chosen = int(sys.argv[2]) if len(sys.argv) > 2 else -1
dist.init_process_group(os.environ["REACTOR_COMM_BACKEND"])
rank, world = dist.get_rank(), dist.get_world_size()
device = "cuda" if dist.get_backend() == "nccl" else "cpu"
total = torch.tensor([float(rank)], device=device)
dist.all_reduce(total)
sys.stdout.write(f"rank {rank} of {world}: the sum is {total.item():g}\n")
Path(f"sum-{rank}.txt").write_text(f"{total.item():g}\n")
if "TEST_FOLDER" in os.environ:
    Path(os.environ["TEST_FOLDER"], f"summed-{rank}").write_text(repr(time.monotonic()))
if what == "raise" and rank == chosen:
    Path(os.environ["TEST_FOLDER"], "acted").write_text(repr(time.monotonic()))
    raise ValueError("this rank will not")
if what == "hang" and rank == chosen:
    Path(os.environ["TEST_FOLDER"], "acted").write_text(repr(time.monotonic()))
    time.sleep(300)
if what == "leave" and rank == chosen:
    Path(os.environ["TEST_FOLDER"], "acted").write_text(repr(time.monotonic()))
    sys.stdout.flush()
    os._exit(0)
if what == "give-up":
    if rank == chosen:
        raise ValueError("this rank will not")
    try:
        dist.all_reduce(total)
    except RuntimeError:
        sys.exit(3)
if what in {"raise", "hang", "leave"}:
    dist.all_reduce(total)
if what == "steps":
    deadline = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < deadline:
        dist.all_reduce(torch.ones(1))
        time.sleep(0.05)
dist.destroy_process_group()
