"""What a rank is told about its place, and what it loads."""

import ast
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.process.distributed.workers import Painter

from reactor_runtime.distributed.worker_group import WorkerGroup

MakeGroup = Callable[..., WorkerGroup]


def test_each_rank_knows_its_place(
    make_group: MakeGroup, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR"):
        monkeypatch.setenv(name, "77")
    with make_group(Painter, device="cpu") as group:
        group.generate(0, ("describe", str(marks)))
    for rank in range(2):
        found = ast.literal_eval(Path(marks, f"rank{rank}").read_text())
        assert found["facts"] == (rank, 2, rank, "cpu", rank == 0)
        assert found["env"] == {
            "RANK": str(rank),
            "WORLD_SIZE": "2",
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
        }


def test_a_rank_is_small(make_group: MakeGroup, marks: Path) -> None:
    with make_group(Painter) as group:
        group.generate(0, ("describe", str(marks)))
    loaded = set(ast.literal_eval(Path(marks, "rank0").read_text())["mods"])
    heavy = {"torch", "fastapi", "starlette", "uvicorn", "av", "aiortc", "pydantic", "pytest"}
    assert loaded & heavy == set()


def test_a_group_of_one_is_a_process_too(make_group: MakeGroup) -> None:
    with make_group(Painter, 1) as group:
        assert group.world_size == 1
        assert os.getpid() not in group.pids
        assert (group.generate(4, "leader") == 4).all()


def test_the_manifest_says_how_many_unless_told(
    make_group: MakeGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REACTOR_WORKERS", "3")
    assert make_group(Painter, None).world_size == 3
    assert make_group(Painter, 2).world_size == 2
    monkeypatch.delenv("REACTOR_WORKERS")
    assert make_group(Painter, None, device="cpu").world_size == 1
