"""What a failure ends, who is told, and what goes on."""

import asyncio
import inspect
import logging
import re
from types import ModuleType

import numpy as np
import pytest
from tests.contract.model_host.conftest import Serve, pools_only
from tests.contract.model_host.recording_outlet import Closed, Shown
from tests.contract.model_host.stage import Stage
from tests.models import gives_wrong_things, returns_wrong_things, says_odd_things
from tests.waiting import until

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, StepReport
from reactor_runtime.host.host_settings import OnFailure


async def fail_a_step(stage: Stage, session_id: str, way: str = "fail") -> HostFailure:
    stage.open(session_id)
    stage.call("arm", way=way)
    await stage.closed(session_id)
    failures: list[HostFailure] = stage.outlet.of(HostFailure)
    (failure,) = [f for f in failures if f.session_id == session_id]
    return failure


@pytest.mark.parametrize(("way", "told"), [("fail", "ValueError"), ("leave", "SystemExit")])
async def test_a_step_that_raises_ends_its_session_loudly(
    serve: Serve, caplog: pytest.LogCaptureFixture, way: str, told: str
) -> None:
    stage = await serve("breaks_when_told")
    with caplog.at_level(logging.ERROR):
        failure = await fail_a_step(stage, "s1", way)
    assert failure == HostFailure(kind=FailureKind.STEP, session_id="s1", message=told, fatal=False)
    reports = stage.outlet.reports
    assert reports.index(failure) < reports.index(Closed("s1"))
    assert stage.texts == ["ended"]
    (record,) = [r for r in caplog.records if r.exc_info]
    assert "s1" in record.getMessage()
    assert stage.outlet.of(StepReport)[-1].error == told


@pytest.mark.parametrize("way", ["array", "shape", "inner", "shard"])
async def test_what_is_refused_after_a_yield_is_placed_at_the_yield(serve: Serve, way: str) -> None:
    stage = await serve("gives_wrong_things")
    failure = await fail_a_step(stage, "s1", way)
    assert failure.cause.endswith(f"(gives_wrong_things.py:{line_of(gives_wrong_things, way)})")


@pytest.mark.parametrize("way", ["array", "shape"])
async def test_what_is_refused_after_a_return_is_placed_at_the_method(
    serve: Serve, way: str
) -> None:
    stage = await serve("returns_wrong_things")
    failure = await fail_a_step(stage, "s1", way)
    assert failure.cause.endswith(f"(returns_wrong_things.py:{line_of(returns_wrong_things, way)})")


def line_of(module: ModuleType, way: str) -> int:
    lines = enumerate(inspect.getsource(module).splitlines(), 1)
    (number,) = (n for n, line in lines if re.search(rf"  # .*\b{way}$|  # {way}\b", line))
    return number


async def test_the_next_session_runs_on_the_same_object(serve: Serve) -> None:
    stage = await serve("breaks_when_told")
    await fail_a_step(stage, "s1")
    before = len(stage.outlet.of(Shown))
    stage.open("s2")
    (shown,) = await stage.outlet.more(Shown, after=before)
    assert shown.value == before + 1


async def test_commands_behind_a_failed_step_are_answered(serve: Serve) -> None:
    stage = await serve("breaks_when_told")
    stage.open()
    stage.outlet.room = 0
    await stage.ask("arm")
    stage.outlet.give_room(None)
    calls = [stage.call("arm") for _ in range(5)]
    codes = {(await stage.reply(call_id)).error_code for call_id in calls}
    assert codes <= {None, "session_ended"}
    await stage.closed()


async def test_three_failed_sessions_in_a_row_are_fatal(serve: Serve) -> None:
    stage = await serve("breaks_when_told")
    assert not (await fail_a_step(stage, "s1")).fatal
    assert not (await fail_a_step(stage, "s2")).fatal
    stage.open("s3")
    await stage.outlet.more(Shown)
    stage.end("s3")  # one that went well begins the count afresh
    await stage.closed("s3")
    assert not (await fail_a_step(stage, "s4")).fatal
    assert not (await fail_a_step(stage, "s5")).fatal
    assert (await fail_a_step(stage, "s6")).fatal
    await refuses_events(stage)


async def refuses_events(stage: Stage) -> None:
    def is_refused() -> bool:
        try:
            stage.start("after")
        except HostClosedError:
            return True
        return False

    assert is_refused()


async def test_an_error_of_the_device_is_fatal(serve: Serve) -> None:
    stage = await serve("breaks_when_told")
    assert (await fail_a_step(stage, "s1", "cuda")).fatal
    await refuses_events(stage)


@pytest.mark.parametrize("on_failure", [OnFailure.EXIT, OnFailure.RESTART])
async def test_where_the_process_is_to_be_replaced_a_failed_step_is_fatal(
    serve: Serve, on_failure: OnFailure
) -> None:
    stage = await serve("breaks_when_told", on_failure=on_failure)
    assert (await fail_a_step(stage, "s1")).fatal
    await refuses_events(stage)


async def test_a_session_that_cannot_start_is_never_fatal(serve: Serve) -> None:
    stage = await serve("breaks_when_told", on_failure=OnFailure.EXIT)
    stage.open("s1")
    await stage.ask("arm", moment="start")
    stage.end("s1")
    stage.open("s2")
    await stage.closed("s2")
    assert [f.fatal for f in stage.outlet.of(HostFailure)] == [False]
    stage.open("s3")
    await stage.opened("s3")


@pytest.mark.parametrize("how", ["block", "await"])
async def test_a_step_past_its_time_is_reported_with_stacks(
    serve: Serve, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    stage = await serve(
        "sleeps_in_step", turn_timeout_s=1.0, first_turn_timeout_s=1.0, stop_timeout_s=0.2
    )
    stage.start()
    await stage.ask("set_how", how=how)
    call = None
    with caplog.at_level(logging.ERROR):
        stage.join()
        await stage.noted(f"step {how}")
        call = stage.call("set_how", how="")
        (failure,) = await stage.outlet.next(HostFailure)
    assert failure == HostFailure(
        kind=FailureKind.STEP_TIMEOUT, session_id="s1", message="TimeoutError", fatal=True
    )
    assert (await stage.reply(call)).error_code == "session_ended"
    timed_out = [r.getMessage() for r in caplog.records if "turn_timed_out" in r.getMessage()]
    assert len(timed_out) == 1
    if how == "block":
        assert "time.sleep(state.seconds)" in timed_out[0]
    with pytest.raises(HostClosedError):
        stage.end()
    await stage.host.stop()
    assert 99 not in [shown.value for shown in stage.outlet.of(Shown)]


async def test_a_handler_past_its_time_is_reported_too(serve: Serve) -> None:
    stage = await serve(
        "sleeps_in_step", turn_timeout_s=1.0, first_turn_timeout_s=1.0, stop_timeout_s=0.1
    )
    stage.start()
    call = stage.call("block_in_command", seconds=2.5)
    (failure,) = await stage.outlet.next(HostFailure)
    assert failure.kind is FailureKind.STEP_TIMEOUT
    assert (await stage.reply(call)).error_code == "session_ended"
    await stage.host.stop()
    replies = [r for r in stage.outlet.reports if getattr(r, "call_id", None) == call]
    assert len(replies) == 1


async def test_the_first_step_may_take_longer(serve: Serve) -> None:
    stage = await serve("sleeps_in_step", turn_timeout_s=1.0, first_turn_timeout_s=30)
    stage.start()
    await stage.ask("set_seconds", seconds=1.5)
    await stage.ask("set_how", how="block")
    stage.join()
    await stage.steps(2)
    assert stage.outlet.of(HostFailure) == []


async def test_a_step_that_waits_for_input_is_not_past_its_time(serve: Serve) -> None:
    stage = await serve("reads_a_microphone", turn_timeout_s=0.7, first_turn_timeout_s=0.7)
    stage.start()
    await stage.ask("set_timeout", timeout=1.4)
    stage.join()
    await stage.noted("timed out")
    assert stage.outlet.of(HostFailure) == []


async def test_a_step_that_waits_for_two_inputs_is_not_past_its_time_when_one_has_come(
    serve: Serve,
) -> None:
    stage = await serve("waits_for_two", turn_timeout_s=0.8, first_turn_timeout_s=0.8)
    stage.open()
    await stage.noted("listening")
    stage.push("mic", np.zeros((1, 480), np.int16))
    await stage.noted("mic came")
    await asyncio.sleep(1.6)  # longer than a turn may take: nothing must come of it
    assert stage.outlet.of(HostFailure) == []
    stage.push("camera", np.zeros((4, 6, 3), np.uint8))
    await stage.noted("listening", times=2)
    stage.end()
    await stage.closed()


async def test_a_thread_that_looks_at_no_state_is_named(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        stage = await serve("uses_threads")  # its load looks, from a thread, at the state
        await until(
            lambda: "state_read_between_sessions" in caplog.text
        )  # a rank's lines come by a pipe
    (record,) = [r for r in caplog.records if "state_read_between_sessions" in r.getMessage()]
    assert "author-thread" in record.getMessage()
    stage.open()
    await stage.ask("talk", text="hello")
    await stage.noted("hello 3")


@pytest.mark.parametrize("kind_of_picture", ["whole", "is_shared"])
async def test_what_a_step_emitted_before_it_raised_is_shown(
    serve: Serve, kind_of_picture: str
) -> None:
    stage = await serve("breaks_after_emitting")
    stage.open()
    if kind_of_picture == "is_shared":
        await stage.ask("set_is_shared", is_shared=True)
    await stage.ask("set_is_armed", is_armed=True)
    await stage.closed()
    told = [r for r in stage.outlet.reports if isinstance(r, Shown | HostFailure | Closed)]
    assert [type(report) for report in told] == [Shown, HostFailure, Closed]
    (shown,), (failure,) = stage.outlet.of(Shown), stage.outlet.of(HostFailure)
    assert (shown.video["main_video"] == 5).all()
    assert failure.message == "ValueError"
    report = stage.outlet.of(StepReport)[-1]  # and what it reported is kept
    assert (report.files, report.error, report.idle) == ({"a": b"1"}, "ValueError", False)


@pools_only
async def test_half_a_picture_of_a_step_that_raised_hides_not_what_it_raised(serve: Serve) -> None:
    stage = await serve("breaks_after_emitting")
    stage.open()
    await stage.ask("set_is_half", is_half=True)
    await stage.ask("set_is_armed", is_armed=True)
    await stage.closed()
    (failure,) = stage.outlet.of(HostFailure)
    assert failure.message == "ValueError"


@pools_only
@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("local", "FrameError"),
        ("unreadable", "ValueError"),
        ("exits", "SystemExit"),
        ("changed", "ValueError"),
    ],
)
async def test_metadata_that_cannot_leave_its_rank_ends_the_session_that_has_it(
    serve: Serve, way: str, told: str
) -> None:
    stage = await serve("says_odd_things")
    stage.open()
    await stage.shown()
    await stage.ask("set_way", way=way)
    await stage.closed()
    (failure,) = stage.outlet.of(HostFailure)
    assert (failure.kind, failure.message) == (FailureKind.STEP, told)
    if way == "local":
        assert "track 'main_video': its metadata cannot leave its rank: " in failure.cause
        assert failure.cause.endswith(f"(says_odd_things.py:{line_of(says_odd_things, way)})")
    if not failure.fatal:
        stage.open("s2")
        await stage.outlet.more(Shown)
        assert stage.outlet.of(Closed) == [Closed("s1")]
