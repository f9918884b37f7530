"""Verbs of somebody else than the engine, as a host adds them."""

import threading
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reactor_runtime.distributed.rank import Rank
from reactor_runtime.distributed.verbs import OnError, Verb


class Driver:
    """Any class will do as a worker."""

    def __init__(self) -> None:
        self.log: list[Any] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Verb):
    """Waits for *times* answers and returns them."""

    phase: ClassVar[str] = "ask"
    times: int
    only_rank: int | None = None

    def run(self, worker: Driver, rank: Rank) -> list[Any]:
        if self.only_rank not in (None, rank.world.rank):
            return []
        return [rank.suspend(("want", number)) for number in range(self.times)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Verb):
    """Posts notices before its reply, and after it from a thread."""

    phase: ClassVar[str] = "say"
    count: int

    def run(self, worker: Driver, rank: Rank) -> str:
        for number in range(self.count):
            rank.post((rank.world.rank, number))
        late = threading.Thread(target=self.later, args=[rank])
        late.start()
        return "said"

    @staticmethod
    def later(rank: Rank) -> None:
        time.sleep(0.1)
        rank.post((rank.world.rank, "late"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Emit(Verb):
    """Emits two pictures on one track and one on another, in bands or whole."""

    phase: ClassVar[str] = "emit"
    height: int
    differ: bool = False

    def run(self, worker: Driver, rank: Rank) -> tuple[int, int]:
        size = rank.world.world_size
        height = self.height + (rank.world.rank if self.differ else 0)
        shape = (2, size * height, 8, 3)
        for picture in range(2):
            band = np.full((2, height, 8, 3), 10 * picture + rank.world.rank, np.uint8)
            rank.frames.place(
                "main", band, shape=shape, origin=(0, rank.world.rank * height), picture=picture
            )
        if rank.world.is_leader:
            rank.frames.place("depth", np.full((1, 4, 4, 3), 77, np.uint8))
        return shape[:2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse(Verb):
    """Raises where it is told; the group is to live on."""

    phase: ClassVar[str] = "refuse"
    on_error: ClassVar[OnError] = OnError.SETTLE
    ranks: tuple[int, ...]

    def run(self, worker: Driver, rank: Rank) -> None:
        if rank.world.rank in self.ranks:
            raise LookupError(f"rank {rank.world.rank}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Verb):
    """Returns something that is hard to carry."""

    phase: ClassVar[str] = "return"
    size: int = 0

    def run(self, worker: Driver, rank: Rank) -> Any:
        return np.full(self.size, rank.world.rank, np.uint8) if self.size else threading.Lock()
