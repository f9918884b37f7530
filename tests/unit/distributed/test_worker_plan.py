"""Which ranks, on which devices, joined by what; and what is refused."""

from typing import Any

import pytest

from reactor_runtime.distributed.worker_plan import Machine, Wish, WorkerPlan, make_worker_plan
from reactor_runtime.errors import WorkerGroupRefusedError
from reactor_runtime.world import World

LAPTOP = Machine(has_torch=True)
NO_TORCH = Machine()
TWO = Machine(cuda_devices=2, has_torch=True, cuda_torch=True)
TWO_CPU_TORCH = Machine(cuda_devices=2, has_torch=True, cuda_torch=False)


def plan(machine: Machine, environment: dict[str, str] | None = None, **wish: Any) -> WorkerPlan:
    return make_worker_plan(Wish(**wish), machine, environment or {})


def test_on_the_cpu() -> None:
    assert plan(LAPTOP, world_size=2) == WorkerPlan(
        worlds=(
            World(rank=0, world_size=2, local_rank=0, device="cpu"),
            World(rank=1, world_size=2, local_rank=1, device="cpu"),
        ),
        backend="gloo",
    )


def test_a_rank_a_device() -> None:
    found = plan(TWO, world_size=2)
    assert [world.device for world in found.worlds] == ["cuda:0", "cuda:1"]
    assert [world.local_rank for world in found.worlds] == [0, 1]
    assert found.backend == "nccl"


def test_ranks_that_share_a_device() -> None:
    found = plan(TWO, world_size=4, oversubscribe=True)
    assert [world.device for world in found.worlds] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]
    assert [world.local_rank for world in found.worlds] == [0, 1, 0, 1]
    assert found.backend == "gloo"


def test_one_rank_on_a_device_of_its_own() -> None:
    (world,) = plan(TWO, world_size=1, device="cuda:1").worlds
    assert (world.device, world.local_rank) == ("cuda:1", 1)


@pytest.mark.parametrize(
    ("machine", "environment", "size"),
    [
        (LAPTOP, {}, 1),
        (TWO, {}, 2),
        (TWO_CPU_TORCH, {}, 1),
        (LAPTOP, {"REACTOR_WORKERS": "3"}, 3),
        (TWO, {"REACTOR_WORKERS": "1"}, 1),
    ],
)
def test_how_many_when_nobody_says(
    machine: Machine, environment: dict[str, str], size: int
) -> None:
    assert len(plan(machine, environment).worlds) == size


def test_no_group_needs_no_torch() -> None:
    found = plan(NO_TORCH, world_size=2, init_process_group=False)
    assert found.backend is None
    assert [world.device for world in found.worlds] == ["cpu", "cpu"]


@pytest.mark.parametrize(
    ("machine", "wish", "words"),
    [
        (NO_TORCH, {"world_size": 2}, r"torch is not .* or .*--no-init-process-group"),
        (LAPTOP, {"world_size": 2, "backend": "nccl"}, r"nccl .*0 CUDA devices"),
        (TWO, {"world_size": 3}, r"3 ranks .*2 CUDA devices; use 2 ranks, or set oversubscribe"),
        (TWO, {"world_size": 4, "oversubscribe": True, "backend": "nccl"}, r"4 ranks, 2 CUDA"),
        (TWO, {"world_size": 2, "device": "cuda:1"}, r"2 ranks .*cuda:1; set device to cuda"),
        (LAPTOP, {"world_size": 1, "device": "cuda"}, r"cuda .*0 CUDA devices can be used"),
        (TWO_CPU_TORCH, {"world_size": 2, "device": "cuda"}, r"0 CUDA devices can be used"),
        (TWO, {"world_size": 1, "device": "cuda:2"}, r"cuda:2 .*2 CUDA devices"),
        (LAPTOP, {"world_size": 0}, r"0 ranks"),
        (LAPTOP, {"world_size": True}, r"True ranks"),
        (LAPTOP, {"world_size": 2, "device": "tpu"}, r"'tpu'"),
        (LAPTOP, {"world_size": 2, "backend": "mpi"}, r"'mpi'"),
    ],
)
def test_what_cannot_be_is_refused_with_its_numbers(
    machine: Machine, wish: dict[str, Any], words: str
) -> None:
    with pytest.raises(WorkerGroupRefusedError, match=words):
        plan(machine, **wish)
