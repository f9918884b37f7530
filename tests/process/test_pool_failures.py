"""What ends when ranks fail, die, hang or disagree: who is told, how soon, and what is left."""

import logging
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.contract.model_host.conftest import Serve, pool_of
from tests.contract.model_host.recording_outlet import Closed, RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage

from reactor_runtime.errors import HostClosedError, ModelLoadError
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, StepReport
from reactor_runtime.host.host_settings import OnFailure

LIMITS = {
    "turn_timeout_s": 2.0,
    "first_turn_timeout_s": 2.0,
    "stop_timeout_s": 2.0,
    "on_failure": OnFailure.EXIT,
}


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(name: str, world_size: int = 2, **options: Any) -> Stage:
            outlet = RecordingOutlet()
            host = pool_of(world_size)(name, outlet, **{**LIMITS, **options})
            return Stage(await stack.enter_async_context(host), outlet)

        yield start


async def failure_of(stage: Stage) -> HostFailure:
    (failure,) = await stage.outlet.next(HostFailure)
    await stage.closed()
    with pytest.raises(HostClosedError):
        stage.start("after")
    assert stage.outlet.of(HostFailure) == [failure]
    assert isinstance(failure, HostFailure)
    return failure


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    ("command", "way", "kind", "message"),
    [
        ("now", "fail", FailureKind.HOST, "RankDesync"),
        ("now", "refuse", FailureKind.HOST, "RankDesync"),
        ("now", "exit", FailureKind.HOST, "WorkerCrashed"),
        ("now", "kill", FailureKind.HOST, "WorkerCrashed"),
        ("now", "hang", FailureKind.STEP_TIMEOUT, "TimeoutError"),
        ("now", "stop", FailureKind.STEP_TIMEOUT, "TimeoutError"),
        ("in_step", "fail", FailureKind.STEP, "ValueError"),
        ("in_step", "exit", FailureKind.HOST, "WorkerCrashed"),
        ("in_step", "kill", FailureKind.HOST, "WorkerCrashed"),
        ("in_step", "hang", FailureKind.STEP_TIMEOUT, "TimeoutError"),
        ("now", "die_later", FailureKind.HOST, "WorkerCrashed"),
    ],
)
async def test_one_rank_ends_the_session_and_the_host(
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
    rank: int,
    command: str,
    way: str,
    kind: FailureKind,
    message: str,
) -> None:
    stage = await serve("goes_astray")
    stage.open()
    await stage.shown()
    with caplog.at_level(logging.ERROR):
        call = stage.call(command, way=way, rank=rank)
        failure = await failure_of(stage)
    assert failure == HostFailure(kind=kind, session_id="s1", message=message, fatal=True)
    reply = await stage.reply(call)
    is_applied = command == "in_step" or way == "die_later"
    assert reply.error_code == (None if is_applied else "session_ended")
    assert f"rank {rank}" in caplog.text or f"ranks=[{rank}]" in caplog.text
    assert "secret" not in failure.message


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (
            "fail",
            "the ranks went different ways in command 'now': rank 0 went well; rank 1 raised "
            "ValueError: a secret detail (goes_astray.py:16)",
        ),
        ("refuse", "in command 'now': rank 0 went well; rank 1 refused with 'not_here'"),
        ("hang", "rank 1 did not answer command 'now' within 2 s"),
        ("kill", "rank 1 died during command 'now' (killed by SIGKILL)"),
    ],
)
async def test_what_one_rank_did_in_a_command_is_told(
    serve: Serve, caplog: pytest.LogCaptureFixture, way: str, words: str
) -> None:
    stage = await serve("goes_astray")
    stage.open()
    await stage.shown()
    with caplog.at_level(logging.ERROR):
        stage.call("now", way=way, rank=1)
        failure = await failure_of(stage)
    assert words in failure.cause
    if way == "fail":
        (logged,) = [each for each in caplog.records if "host_failed" in each.getMessage()]
        text = "".join(traceback.format_exception(logged.exc_info[1])) if logged.exc_info else ""
        assert "on rank 1:" in text
        assert 'raise ValueError("a secret detail")' in text
        assert "/reactor_runtime/" not in text


async def test_a_command_that_waits_for_one_after_it_is_shown_where_it_waits(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("waits_for_events")
    stage.open()
    await stage.shown()
    with caplog.at_level(logging.ERROR):
        stage.call("wait_for_a_signal")
        stage.call("give_the_signal")
        failure = await failure_of(stage)
    assert (failure.kind, failure.message) == (FailureKind.STEP_TIMEOUT, "TimeoutError")
    assert "in WaitsForEvents.wait_for_a_signal" in caplog.text
    assert "await self.signal.wait()" in caplog.text


async def test_an_exception_equal_on_all_ranks_is_the_callers(serve: Serve) -> None:
    stage = await serve("goes_astray")
    stage.open()
    assert (await stage.ask("now", way="fail", rank=-1)).error_code == "internal_error"
    assert (await stage.ask("now", way="refuse", rank=-1)).error_code == "not_here"
    assert stage.outlet.of(HostFailure) == []
    await stage.outlet.more(Shown)


async def test_a_step_that_raised_on_all_ranks_runs_the_last_hook(serve: Serve) -> None:
    stage = await serve("goes_astray")
    stage.open()
    stage.call("in_step", way="fail", rank=-1)
    failure = await failure_of(stage)
    assert (failure.kind, failure.message) == (FailureKind.STEP, "ValueError")
    assert stage.texts == ["ended"]


@pytest.mark.parametrize("rank", [0, 1])
async def test_a_step_that_one_rank_refuses_is_refused_on_all(serve: Serve, rank: int) -> None:
    stage = await serve("goes_astray")
    stage.start()
    await stage.ask("refuse_steps", rank=rank)
    stage.join()
    reports = await stage.steps(5)
    assert all(report.refused and report.number == 0 for report in reports)
    await stage.ask("refuse_steps", rank=-2)
    before = len(stage.outlet.of(StepReport))
    (report,) = await stage.outlet.more(StepReport, after=before + 1)
    assert not report.refused
    assert stage.outlet.of(HostFailure) == []


async def test_death_is_seen_within_a_second(serve: Serve) -> None:
    stage = await serve("goes_astray")
    stage.open()
    await stage.shown()
    began = time.monotonic()
    stage.call("in_step", way="kill", rank=1)
    await stage.outlet.next(HostFailure)
    assert time.monotonic() - began < 3  # an idle machine needs a tenth of that


async def test_a_failure_in_load_is_told_once_with_the_authors_frames_alone(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BREAK", "raise")
    with pytest.raises(ModelLoadError, match=r"are bad \(breaks_in_load\.py:\d+\)$") as caught:
        await serve("breaks_in_load")
    assert caught.value.__cause__ is not None
    shown = "".join(traceback.format_exception(caught.value.__cause__))
    assert shown.count("Traceback (most recent call last)") == 1
    assert 'raise ValueError("the weights' in shown
    assert "/reactor_runtime/" not in shown


@pytest.mark.parametrize("model", ["runs_free", "emits_blindly"])
async def test_a_loop_without_turns_is_refused_with_the_lines_to_change(
    serve: Serve, model: str
) -> None:
    with pytest.raises(ModelLoadError) as caught:
        await serve(model)
    assert caught.value.phase == "run"
    assert "async for turn in self.turns():" in str(caught.value)


async def test_an_emission_from_a_thread_raises_in_that_thread(serve: Serve) -> None:
    stage = await serve("uses_threads")
    stage.open()
    reply = await stage.ask("show")
    assert reply.error_code == "internal_error"
    assert stage.outlet.of(Shown) == []


async def test_stop_ends_a_healthy_pool_with_its_last_hook(serve: Serve) -> None:
    stage = await serve("goes_astray")
    stage.open()
    await stage.shown()
    await stage.host.stop()
    assert stage.texts == ["ended"]
    assert stage.outlet.reports[-1] == Closed("s1")


async def test_a_rank_has_loaded_nothing_of_the_server(serve: Serve) -> None:
    stage = await serve("tells_what_is_loaded")
    stage.start()
    assert await stage.ask_text("tell") == ""
