"""WorkerPlan: how many ranks, on which devices, joined by what. Decided before anything starts."""

from collections.abc import Mapping
from dataclasses import dataclass

from reactor_runtime.errors import WorkerGroupRefusedError
from reactor_runtime.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What there is to run on.

    Attributes:
        cuda_devices: Devices this process may use.
        has_torch: Whether torch is installed.
        cuda_torch: Whether that torch was built for CUDA.
    """

    cuda_devices: int = 0
    has_torch: bool = False
    cuda_torch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What was asked for; ``None`` leaves it to the machine.

    Attributes:
        world_size: Number of ranks.
        device: ``cpu``, ``cuda``, or ``cuda:<n>`` for one rank.
        backend: ``gloo`` or ``nccl``.
        init_process_group: Whether ranks join a collective group.
        oversubscribe: Whether ranks may share devices.
    """

    world_size: int | None = None
    device: str | None = None
    backend: str | None = None
    init_process_group: bool = True
    oversubscribe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """What will be started.

    Attributes:
        worlds: The place of every rank, in order.
        backend: The collective group's backend, ``None`` for no group.
    """

    worlds: tuple[World, ...]
    backend: str | None


def make_worker_plan(wish: Wish, machine: Machine, environment: Mapping[str, str]) -> WorkerPlan:
    """Return what *wish* comes to on *machine*.

    Args:
        wish: What was asked for.
        machine: What there is.
        environment: ``REACTOR_WORKERS`` in it is the manifest's word for the number of ranks.

    Raises:
        WorkerGroupRefusedError: It cannot be; the error has the numbers and the cure.
    """
    usable = machine.cuda_devices if machine.cuda_torch or not machine.has_torch else 0
    size = _world_size(wish, environment, usable)
    device = wish.device or ("cuda" if usable else "cpu")
    _check_torch(wish, machine)
    _check_device(wish, size, device, usable)
    backend = _backend(wish, device, size, usable)
    return WorkerPlan(
        worlds=tuple(_world(rank, size, device, usable) for rank in range(size)),
        backend=backend if wish.init_process_group else None,
    )


def _world_size(wish: Wish, environment: Mapping[str, str], usable: int) -> int:
    size = wish.world_size
    if size is None:
        told = environment.get("REACTOR_WORKERS", "")
        size = int(told) if told.isdecimal() else usable or 1
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise WorkerGroupRefusedError(
            f"a worker group of {size!r} ranks was asked for", "ask for 1 or more"
        )
    return size


def _check_torch(wish: Wish, machine: Machine) -> None:
    if wish.init_process_group and not machine.has_torch:
        raise WorkerGroupRefusedError(
            "the ranks were to join a process group and torch is not installed",
            "pip install torch, or set init_process_group to false (--no-init-process-group)",
        )


def _check_device(wish: Wish, size: int, device: str, usable: int) -> None:
    kind, _, index = device.partition(":")
    if kind not in ("cpu", "cuda") or (index and not index.isdecimal()):
        raise WorkerGroupRefusedError(f"the device {device!r} was asked for", "use cpu or cuda")
    if index and size > 1:
        what = f"{size} ranks were asked for on the one device {device}"
        raise WorkerGroupRefusedError(what, f"set device to {kind}: each rank takes its own")
    if kind == "cpu":
        return
    if usable == 0 or int(index or 0) >= usable:
        what = f"device {device} was asked for and {usable} CUDA devices can be used"
        raise WorkerGroupRefusedError(what, "set device to cpu, or install a torch built for CUDA")
    if size > usable and not wish.oversubscribe:
        what = f"{size} ranks were asked for and there are {usable} CUDA devices"
        raise WorkerGroupRefusedError(
            what, f"use {usable} ranks, or set oversubscribe to let ranks share a device"
        )


def _backend(wish: Wish, device: str, size: int, usable: int) -> str:
    backend = wish.backend or ("nccl" if device != "cpu" and not wish.oversubscribe else "gloo")
    if backend not in ("gloo", "nccl"):
        raise WorkerGroupRefusedError(f"the backend {backend!r} was asked for", "use gloo or nccl")
    if backend == "nccl" and device == "cpu":
        what = f"nccl was asked for on the CPU ({usable} CUDA devices can be used)"
        raise WorkerGroupRefusedError(what, "use gloo")
    if backend == "nccl" and wish.oversubscribe:
        what = f"nccl was asked for with oversubscribe ({size} ranks, {usable} CUDA devices)"
        raise WorkerGroupRefusedError(what, "nccl has one rank a device: use gloo")
    return backend


def _world(rank: int, size: int, device: str, usable: int) -> World:
    kind, _, index = device.partition(":")
    if kind == "cpu":
        return World(rank=rank, world_size=size, local_rank=rank, device="cpu")
    local_rank = int(index) if index else rank % usable
    return World(rank=rank, world_size=size, local_rank=local_rank, device=f"cuda:{local_rank}")
