"""PoolSettings: how many ranks a model runs on, where, and joined by what."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """What a ``WorkerPoolHost`` starts; deadlines of turns are in ``HostSettings``.

    Attributes:
        world_size: Ranks.
        device: ``cpu``, ``cuda``, or ``cuda:<n>`` for one rank.
        comm_backend: ``gloo`` or ``nccl``; ``None`` for what suits the device.
        init_process_group: Whether ranks join a torch process group.
        oversubscribe: Whether there may be more ranks than devices.
        env: Environment variables of the ranks.
        check_lockstep: Whether a digest of every rank is compared after every call.
        load_timeout_s: Seconds from the start to the end of ``warmup``; 0 for no bound.
        settle_timeout_s: Seconds ranks have to leave at the end.
        comm_timeout_s: Seconds a collective may wait; ``None`` for longer than all other bounds.
        converts_beside: Whether a step's frames are converted while the next one runs; else a step
            is over when they are.
    """

    world_size: int = 1
    device: str | None = "cpu"
    comm_backend: str | None = None
    init_process_group: bool = True
    oversubscribe: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    check_lockstep: bool = False
    load_timeout_s: float = 1800.0
    settle_timeout_s: float = 5.0
    comm_timeout_s: float | None = None
    converts_beside: bool = True
