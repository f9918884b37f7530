"""World: which of how many processes this is, and on which device."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reactor_runtime.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The place of one process in the group that runs a model.

    Attributes:
        rank: Position in the group, ``0 … world_size - 1``.
        world_size: Number of processes.
        local_rank: Position on this machine; the index of the device.
        device: ``"cpu"`` or ``"cuda:<n>"``.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    device: str = "cpu"

    @property
    def is_leader(self) -> bool:
        """Whether this rank's output is the one that counts."""
        return self.rank == 0

    def attributes(self) -> dict[str, Any]:
        """Return what an author's object is told of it, by the names of its attributes."""
        return asdict(self) | {"is_leader": self.is_leader}

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> "World":
        """Return the place that torchrun's variables say; without them, a world of one.

        The device is ``cuda:<local rank>`` when ``REACTOR_COMM_BACKEND`` is ``nccl``.

        Raises:
            SettingError: A variable is no number, or the rank is outside the world.
        """
        found = os.environ if environment is None else environment
        if "RANK" not in found:
            return cls()
        numbers = {name: _number(found, name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
        if numbers["RANK"] >= numbers["WORLD_SIZE"]:
            wanted = f"below WORLD_SIZE, {numbers['WORLD_SIZE']}"
            raise SettingError("RANK", str(numbers["RANK"]), wanted)
        is_cuda = found.get("REACTOR_COMM_BACKEND") == "nccl"
        return cls(
            rank=numbers["RANK"],
            world_size=numbers["WORLD_SIZE"],
            local_rank=numbers["LOCAL_RANK"],
            device=f"cuda:{numbers['LOCAL_RANK']}" if is_cuda else "cpu",
        )


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    if not text.isdecimal():
        raise SettingError(name, repr(text), "the whole number that torchrun sets")
    return int(text)
