"""A process's place, as torchrun's variables say it."""

import pytest

from reactor_runtime.errors import SettingError
from reactor_runtime.world import World

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}


def test_without_torchrun_a_world_of_one() -> None:
    assert World.from_env({}) == World()


def test_torchruns_variables() -> None:
    assert World.from_env(TORCHRUN) == World(rank=3, world_size=4, local_rank=1, device="cpu")
    nccl = {**TORCHRUN, "REACTOR_COMM_BACKEND": "nccl"}
    assert World.from_env(nccl).device == "cuda:1"


@pytest.mark.parametrize(
    ("change", "words"),
    [({"WORLD_SIZE": ""}, "WORLD_SIZE"), ({"RANK": "-1"}, "RANK"), ({"RANK": "4"}, "below")],
)
def test_a_place_that_is_none(change: dict[str, str], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        World.from_env(TORCHRUN | change)


def test_what_authors_see_of_a_place() -> None:
    place = World(rank=1, world_size=2, local_rank=0, device="cuda:0")
    assert place.attributes() == {
        "rank": 1,
        "world_size": 2,
        "local_rank": 0,
        "device": "cuda:0",
        "is_leader": False,
    }
