"""Enters a real collective in every step and shows the sum; one rank breaks in it when told."""

import atexit
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from tests.models.parts import Picture, flat

from reactor_runtime import ReactorModel, event


def stay_away() -> None:
    raise ZeroDivisionError("a secret detail")


def leave_between_two() -> None:
    dist.all_reduce(torch.ones(1 << 16))
    raise ZeroDivisionError("a secret detail")


def hang_up() -> None:
    """Fail so that the others hear of it in their collective first."""
    dist.destroy_process_group()
    raise ZeroDivisionError("a secret detail")


WAYS: dict[str, Callable[[], None]] = {
    "stay_away": stay_away,
    "leave_between_two": leave_between_two,
    "hang_up": hang_up,
    "die": lambda: os._exit(5),
}


def note_the_end(folder: Path, rank: int) -> None:
    group = "left in" if dist.is_initialized() else "gone"
    (folder / f"end{rank}").write_text(group)


class AddsUpTogether(ReactorModel):
    def __init__(self) -> None:
        self.armed = ""

    def load(self, config_path: Path | None) -> None:
        if config_path is not None:
            atexit.register(note_the_end, config_path, self.rank)

    @event
    def break_in_step(self, way: str, rank: int) -> None:
        if rank == self.rank:
            self.armed = way

    def generate(self, input: Any) -> Picture:
        if self.armed:
            WAYS[self.armed]()
        for _ in range(2):
            ones = torch.ones(1 << 16)
            dist.all_reduce(ones)
        return Picture(main_video=flat(int(ones[0])))
