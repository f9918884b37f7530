"""Each scheduler's variables, faked, and the place they mean."""

import pytest

from reactor_runtime.errors import SettingError
from reactor_runtime.launcher.scheduler_env import (
    SchedulerPlace,
    first_host,
    place_from,
    port_of,
)

SLURM = {
    "SLURM_JOB_ID": "77",
    "SLURM_NODEID": "1",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_JOB_NODELIST": "gpu[03-04]",
}


def test_slurm() -> None:
    assert place_from("slurm", SLURM, 2) == SchedulerPlace(
        node_rank=1, num_workers=2, master="gpu03", port=port_of("slurm-77-0-0"),
        run_id="slurm-77-0-0",
    )  # fmt: skip


def test_kubernetes() -> None:
    variables = {"JOB_COMPLETION_INDEX": "0", "JOB_NAME": "train", "JOB_SERVICE": "peers"}
    assert place_from("kubernetes", variables, 2) == SchedulerPlace(
        node_rank=0, num_workers=2, master="train-0.peers", port=port_of("kubernetes-train"),
        run_id="kubernetes-train",
    )  # fmt: skip


def test_pytorchjob() -> None:
    variables = {"MASTER_ADDR": "m", "MASTER_PORT": "23456", "WORLD_SIZE": "2", "RANK": "1"}
    assert place_from("pytorchjob", variables, 2) == SchedulerPlace(
        node_rank=1, num_workers=2, master="m", port=23456, run_id="pytorchjob-m-23456"
    )


def test_a_requeued_job_is_another() -> None:
    again = place_from("slurm", {**SLURM, "SLURM_RESTART_COUNT": "1"}, 2)
    assert again.run_id != place_from("slurm", SLURM, 2).run_id


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("gpu[03-05,9],login1", "gpu03"),
        ("a,b", "a"),
        ("gpu7", "gpu7"),
        ("n[1,5]", "n1"),
        ("rack2-n[010-012]", "rack2-n010"),
    ],
)
def test_the_first_host_of_a_list(nodes: str, first: str) -> None:
    assert first_host(nodes) == first


@pytest.mark.parametrize(
    ("scheduler", "change", "workers", "words"),
    [
        ("pbs", {}, 2, "slurm or kubernetes or pytorchjob"),
        ("slurm", {"SLURM_NODEID": ""}, 2, "SLURM_NODEID"),
        ("slurm", {"SLURM_NODEID": "x"}, 2, "a whole number"),
        ("slurm", {"SLURM_NODEID": "2"}, 2, "a rank below"),
        ("slurm", {}, 3, "2 nodes given by slurm"),
        ("slurm", {"SLURM_JOB_NODELIST": "["}, 2, "a list of nodes"),
    ],
)
def test_a_mistake_is_named(
    scheduler: str, change: dict[str, str], workers: int, words: str
) -> None:
    with pytest.raises(SettingError, match=words):
        place_from(scheduler, SLURM | change, workers)


def test_ports_are_alike_everywhere_and_below_the_systems_own() -> None:
    assert port_of("slurm-77-0-0") == port_of("slurm-77-0-0")
    assert all(20_000 <= port_of(f"j{n}") < 30_000 for n in range(200))
