"""The environment of a rank."""

import pytest

from reactor_runtime.distributed.rank_environment import (
    IMPORTING,
    MARK,
    GroupEnvironment,
    refuse_inside_a_rank,
)
from reactor_runtime.errors import WorkerGroupRefusedError
from reactor_runtime.world import World

WORLD = World(rank=1, world_size=2, local_rank=1, device="cpu")
GROUP = GroupEnvironment(token="ab12", master_port=4567, hash_seed="7", author={"MODE": "fast"})


def test_a_rank_is_told_its_place_and_its_share() -> None:
    found = GROUP.of_rank(WORLD, {"HOME": "/home/author"}, cores=9)
    assert found == {
        "HOME": "/home/author",
        "MODE": "fast",
        "RANK": "1",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "4567",
        "PYTHONHASHSEED": "7",
        "OMP_NUM_THREADS": "4",
        "MKL_NUM_THREADS": "4",
        "OPENBLAS_NUM_THREADS": "4",
        "NUMEXPR_NUM_THREADS": "4",
        "GLOO_SOCKET_IFNAME": "lo",
        "NCCL_SOCKET_IFNAME": "lo",
        MARK: "ab12:1/2",
        IMPORTING: "1",
    }


def test_what_another_launcher_left_never_leaks_in() -> None:
    stale = {
        "RANK": "5", "WORLD_SIZE": "9", "LOCAL_RANK": "5", "GROUP_RANK": "1", "ROLE_RANK": "5",
        "ROLE_NAME": "x", "ROLE_WORLD_SIZE": "9", "GROUP_WORLD_SIZE": "2", "MASTER_PORT": "1",
        "TORCHELASTIC_RUN_ID": "x", "TORCHELASTIC_USE_AGENT_STORE": "True", "PET_NNODES": "2",
    }  # fmt: skip
    assert GROUP.of_rank(WORLD, stale, cores=2) == GROUP.of_rank(WORLD, {}, cores=2)


def test_what_is_set_already_stays() -> None:
    own = {"OMP_NUM_THREADS": "3", "GLOO_SOCKET_IFNAME": "eth0", "PYTHONHASHSEED": "0"}
    found = GROUP.of_rank(WORLD, own, cores=8)
    assert own.items() <= found.items()
    assert found["MKL_NUM_THREADS"] == "4"
    assert GROUP.of_rank(WORLD, {"PYTHONHASHSEED": "random"}, 8)["PYTHONHASHSEED"] == "7"


def test_every_group_has_its_own_mark_and_one_hash_seed() -> None:
    one, other = (GroupEnvironment.draw(1, {}) for _ in range(2))
    assert one.token != other.token
    assert 0 <= int(one.hash_seed) < 2**32


def test_there_is_always_a_core() -> None:
    assert GROUP.of_rank(WORLD, {}, cores=1)["OMP_NUM_THREADS"] == "1"


@pytest.mark.parametrize("environment", [{}, {MARK: "ab:0/1"}, {"RANK": "0", "WORLD_SIZE": "4"}])
def test_a_group_may_be_built(environment: dict[str, str]) -> None:
    refuse_inside_a_rank(environment)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({MARK: "ab:1/4"}, "rank 1 of 4; serve with world_size: 1 and workers: 4"),
        ({MARK: "ab:0/1", IMPORTING: "1"}, "if __name__ == '__main__':"),
    ],
)
def test_a_group_may_not_be_built(environment: dict[str, str], words: str) -> None:
    with pytest.raises(WorkerGroupRefusedError, match=words):
        refuse_inside_a_rank(environment)
