"""Lockstep under fire: whatever happens when, every rank is told the same in the same order."""

import asyncio
import logging
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.model_host.recording_outlet import RecordingOutlet
from tests.contract.model_host.stage import Stage
from tests.models.keeps_in_step import KeepsInStep

from reactor_runtime.host.events import FileArrived
from reactor_runtime.host.host_outlet import CommandReply, HostFailure, StepReport
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.worker_pool_host import WorkerPoolHost
from reactor_runtime.model.uploaded_file import UploadedFile

ACTS = ["say", "level", "refuse", "fail", "join", "leave", "picture", "file"]
ALL_ACTS, TURNS = 2000, 500

Acts = list[tuple[str, int]]


def host_of(
    world_size: int,
    folder: Path,
    outlet: RecordingOutlet,
    model: type[KeepsInStep] = KeepsInStep,
    **options: Any,
) -> WorkerPoolHost:
    pool = PoolSettings(world_size=world_size, check_lockstep=True, **options)
    return WorkerPoolHost(
        model, outlet=outlet, pool=pool, config_path=folder, settings=HostSettings()
    )


def act(stage: Stage, kind: str, number: int) -> bool:
    """Do one thing; returns whether it will be answered."""
    commands: dict[str, tuple[str, dict[str, Any]]] = {
        "say": ("say", {"text": f"word {number}"}),
        "level": ("set_level", {"level": number}),
        "refuse": ("refuse", {"code": f"code_{number % 5}"}),
        "fail": ("fail", {}),
    }
    if kind in commands:
        name, arguments = commands[kind]
        stage.call(name, **arguments)
        return True
    if kind == "join":
        stage.join(f"viewer {number % 3}", joined_at=number / 7)
    elif kind == "leave":
        stage.leave(f"viewer {number % 3}")
    elif kind == "picture":
        stage.push("camera", np.full((90, 160, 3), number, np.uint8))
    else:
        data = bytes([number]) * (number * 400)
        file = UploadedFile(name=f"{number}.bin", mime_type="x/y", data=data)
        stage.host.post(FileArrived(client_id="a", file=file))
    return False


async def play(stage: Stage, acts: Acts) -> None:
    stage.open(seed=7)
    answers = 0
    for index in range(ALL_ACTS):
        kind, number = acts[index % len(acts)]
        answers += act(stage, kind, (number + index) % 256)
        if index % 4 == 0:  # four of them for every turn, wherever in it they fall
            wanted = index * TURNS // ALL_ACTS
            await stage.outlet.next(StepReport, wanted + 1)
    await stage.outlet.until(lambda: len(stage.outlet.of(CommandReply)) >= answers, 60)
    await stage.outlet.until(lambda: len(stage.outlet.of(StepReport)) >= TURNS, 60)
    stage.end()
    await stage.closed()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("world_size", [2, 4])
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 255)), min_size=30, max_size=60)
)
def test_every_rank_is_told_the_same_in_the_same_order(world_size: int, acts: Acts) -> None:
    async def main(folder: Path) -> None:
        outlet = RecordingOutlet()
        async with host_of(world_size, folder, outlet, init_process_group=False) as host:
            await play(Stage(host, outlet), acts)
        assert outlet.of(HostFailure) == []

    with tempfile.TemporaryDirectory() as folder:
        logging.disable(logging.ERROR)  # commands that fail on purpose
        try:
            asyncio.run(main(Path(folder)))
        finally:
            logging.disable(logging.NOTSET)
        check_alike(Path(folder), world_size)


def check_alike(folder: Path, world_size: int) -> None:
    logs = [(folder / f"rank{rank}.log").read_text() for rank in range(world_size)]
    assert logs[0].count("turn ") >= TURNS
    assert all(log == logs[0] for log in logs)


@pytest.mark.torch
@pytest.mark.timeout(240)
async def test_collectives_meet_while_sessions_come_and_go(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("torch")
    from tests.models.keeps_in_step_together import KeepsInStepTogether

    caplog.set_level(logging.CRITICAL)  # commands that fail on purpose
    outlet, chance, sessions = RecordingOutlet(), random.Random(26), 0
    async with host_of(2, tmp_path, outlet, KeepsInStepTogether, device="cpu") as host:
        stage = Stage(host, outlet)
        while (turns := len(outlet.of(StepReport))) < TURNS:
            sessions += 1
            stage.open(f"s{sessions}", seed=sessions)
            for _ in range(chance.randrange(10, 120)):
                act(stage, chance.choice(ACTS), chance.randrange(256))
                if chance.random() < 0.2:
                    stage.join()  # whoever has left: without a viewer there is no step
                    turns += 1
                    await stage.outlet.next(StepReport, turns)
            stage.end(f"s{sessions}")
            await stage.closed(f"s{sessions}")  # it gives a stop ten seconds
    assert sessions > 10
    assert outlet.of(HostFailure) == []
    check_alike(tmp_path, 2)


async def test_state_that_drifts_is_named_with_turn_field_and_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DIVERGE_AT", "3")
    outlet = RecordingOutlet()
    with caplog.at_level(logging.ERROR):
        async with host_of(2, tmp_path, outlet, init_process_group=False) as host:
            stage = Stage(host, outlet)
            stage.open()
            await stage.closed()
    assert [failure.message for failure in outlet.of(HostFailure)] == ["RankDesync"]
    assert "turn 3: state.level differs (ranks 1)" in caplog.text
