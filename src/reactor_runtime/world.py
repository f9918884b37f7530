"""World: which of how many processes this is, and on which device."""

from dataclasses import dataclass


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
