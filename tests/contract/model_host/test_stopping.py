"""The end of a session and of a host, whatever the model is doing."""

import logging
import time

import pytest
from tests.contract.model_host.conftest import MakeHost, Serve, in_process_only
from tests.contract.model_host.recording_outlet import Closed, RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage
from tests.waiting import until

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.host_outlet import HostFailure


async def test_stop_ends_the_live_session_once(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    await stage.shown()
    await stage.host.stop()
    await stage.host.stop()
    assert stage.texts.count("ended 7") == 1
    assert stage.outlet.of(Closed) == [Closed("s1")]
    assert stage.outlet.reports[-1] == Closed("s1")
    with pytest.raises(HostClosedError, match="stopped"):
        stage.start("s2")


async def test_stop_before_start_does_nothing(make_host: MakeHost) -> None:
    host = make_host("notes_everything", RecordingOutlet())
    await host.stop()


async def test_stop_answers_what_is_pending(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    calls = [stage.call("slow_note", text="x") for _ in range(100)]
    await stage.noted("begin x")
    await stage.host.stop()
    replies = [stage.outlet.reply_to(call_id) for call_id in calls]
    assert all(replies)
    assert {reply.error_code for reply in replies if reply} <= {None, "session_ended"}
    assert stage.texts[-1] == "ended 7"


@pytest.mark.parametrize("model", ["takes_turns", "yields_forever"])
async def test_every_body_lets_itself_be_stopped(serve: Serve, model: str) -> None:
    await stops(serve, model)


@in_process_only("ranks refuse a loop without turns when it loads")
@pytest.mark.parametrize("model", ["runs_free", "emits_blindly"])
async def test_every_loop_of_its_own_lets_itself_be_stopped(serve: Serve, model: str) -> None:
    await stops(serve, model)


async def stops(serve: Serve, model: str) -> None:
    stage = await serve(model, stop_timeout_s=60)  # and it need not be given up
    stage.open()
    await stage.shown()
    began = time.monotonic()
    await stage.host.stop()
    assert time.monotonic() - began < 15


def is_stuck(stage: Stage) -> bool:
    stacks = stage.host.stacks()
    assert stacks
    return all("time.sleep(state.seconds)" in stack for stack in stacks.values())


async def test_stop_is_bounded_when_a_step_is_stuck(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("sleeps_in_step", stop_timeout_s=0.2)
    stage.start()
    await stage.ask("set_how", how="block")
    stage.join()
    await stage.noted("step block")
    await until(lambda: is_stuck(stage))
    began = time.monotonic()
    with caplog.at_level(logging.ERROR):
        await stage.host.stop()
    assert time.monotonic() - began < 2
    assert "model_is_stuck" in caplog.text
    assert "time.sleep(state.seconds)" in caplog.text


async def test_stop_cancels_a_step_that_only_waits(serve: Serve) -> None:
    stage = await serve("sleeps_in_step", stop_timeout_s=0.1)
    stage.start()
    await stage.ask("set_seconds", seconds=60)
    await stage.ask("set_how", how="await")
    stage.join()
    await stage.noted("step await")
    began = time.monotonic()
    await stage.host.stop()
    assert time.monotonic() - began < 2


async def test_the_end_of_a_session_waits_for_its_step_and_drops_what_it_shows(
    serve: Serve,
) -> None:
    stage = await serve("sleeps_in_step")
    stage.start()
    await stage.ask("set_seconds", seconds=0.3)
    await stage.ask("set_how", how="linger")
    stage.join()
    await stage.noted("step linger")
    stage.end()
    await stage.closed()
    assert stage.texts[-1] == "ended"
    assert 99 not in [shown.value for shown in stage.outlet.of(Shown)]
    assert stage.outlet.of(HostFailure) == []


async def test_the_end_of_a_session_releases_an_emit_that_waits(serve: Serve) -> None:
    stage = await serve("reuses_one_array")
    stage.open()
    await stage.shown(3)
    stage.outlet.room = 0
    stage.end()
    await stage.closed()
    assert stage.outlet.of(HostFailure) == []


async def test_forty_sessions_leave_nothing_behind(serve: Serve) -> None:
    import threading

    stage = await serve("yields_forever")
    stage.open("s")
    await stage.shown()
    stage.end("s")
    await stage.closed("s")
    threads = threading.active_count()
    for number in range(40):
        stage.open(f"s{number}")
        await stage.opened(f"s{number}")
        stage.end(f"s{number}")
        await stage.closed(f"s{number}")
    assert threading.active_count() <= threads
