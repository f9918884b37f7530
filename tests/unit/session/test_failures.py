"""What a failure ends, and who is told first."""

import io
import json

import pytest
from tests.unit.session.room import Room, retained, settle
from tests.waiting import until

from reactor_runtime.errors import NoSessionError, SessionUnavailableError
from reactor_runtime.host.events import SessionEnded
from reactor_runtime.host.host_outlet import FailureKind
from reactor_runtime.log import configure, get_logger
from reactor_runtime.session.descriptor import SESSION_ID
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState


async def test_a_failed_step_is_told_to_clients_then_the_session_ends(started: Room) -> None:
    new, old = started.v1(5000), started.client(5001, has_control=False)
    new.call("data_1", "shout")
    started.host.fail(FailureKind.STEP, "ValueError in inference")
    await started.state(SessionState.READY)
    pending, error = new.on_data
    assert (pending.request_id, pending.error.code) == ("data_1", "session_ended")
    assert (error.request_id, error.kind, error.error.code) == ("", 3, "internal_error")
    assert "ValueError in inference" in error.error.message
    assert new.on_control[-1].session_ended.reason == "error"
    assert old.texts == [
        {"scope": "runtime", "data": {"type": "sessionEnded", "data": {"reason": "error"}}}
    ]
    assert new.is_closed
    assert old.is_closed
    assert started.ended == ["error"]
    ended = started.host.posted[-1]
    assert isinstance(ended, SessionEnded)
    assert ended.reason == "error"


async def test_a_client_that_has_not_spoken_yet_hears_why_too(started: Room) -> None:
    viewer = started.client()
    started.host.fail(FailureKind.STEP, "ValueError")
    await started.state(SessionState.READY)
    assert [frame.error.message for frame in viewer.on_data] == ["the session failed: ValueError"]
    assert viewer.on_control[-1].session_ended.reason == "error"
    assert viewer.is_closed


async def test_a_client_on_its_way_finds_how_its_session_ended(started: Room) -> None:
    assert started.session.descriptor()["session_number"] == 1
    assert "ending" not in started.session.descriptor()
    started.host.fail(FailureKind.STEP, "ValueError")
    await started.state(SessionState.READY)
    ending = {
        "session_number": 1,
        "reason": "error",
        "detail": "the session failed: ValueError",
    }
    assert started.session.descriptor()["ending"] == ending
    with pytest.raises(NoSessionError, match="No session running: the session failed: ValueError"):
        started.session.require(SESSION_ID)
    await started.started()
    assert started.session.descriptor()["session_number"] == 2
    assert started.session.descriptor()["ending"] == ending
    await started.session.stop_session("maintenance")
    assert started.session.descriptor()["ending"] == {
        "session_number": 2,
        "reason": "maintenance",
        "detail": "",
    }
    with pytest.raises(NoSessionError, match=r"^No session running$"):
        started.session.require(SESSION_ID)


async def test_the_outside_is_told_more_than_clients_are(started: Room) -> None:
    viewer = started.v1()
    started.host.fail(FailureKind.STEP, "ValueError", fatal=True, cause="ValueError: boom (m.py:3)")
    await until(lambda: started.terminated != [])
    assert started.terminated == ["ValueError: boom (m.py:3)"]
    assert viewer.on_data[-1].error.message == "the session failed: ValueError"
    assert "boom" not in str(started.session.descriptor())
    assert "boom" not in started.session.health().detail


async def test_the_next_session_starts_at_once(started: Room) -> None:
    started.host.fail()
    await started.state(SessionState.READY)
    assert started.session.health() == (
        True,
        "available",
        "the model is ready, no session is running; the last one failed: ValueError",
    )
    assert (await started.started())["state"] == "waiting"
    assert started.session.health().detail == "the session is waiting"
    assert started.terminated == []
    viewer = started.v1()
    viewer.call("data_1", "shout")
    started.host.reply(started.host.calls()[0])
    await until(lambda: viewer.answers() == [("data_1", "ok")])


async def test_a_failure_is_recorded_once(started: Room) -> None:
    started.host.fail(message="ValueError")
    await started.state(SessionState.READY)
    errors = [e for e in retained(started.session.events) if e["event"] == "error"]
    assert [error["detail"] for error in errors] == [{"message": "ValueError"}]


async def test_a_start_hook_that_raises_fails_that_start(room: Room) -> None:
    room.host.start_error = "KeyError in session_started"
    with pytest.raises(SessionUnavailableError, match="KeyError in session_started"):
        await room.started()
    await room.state(SessionState.READY)
    assert room.ended == ["error"]
    room.host.start_error = ""
    assert (await room.started())["state"] == "waiting"


async def test_a_slow_start_hook_does_not_hold_the_answer() -> None:
    room = Room(SessionSettings(start_wait_s=0.05))
    await room.ready()
    room.host.is_prompt = False
    assert (await room.started())["state"] == "waiting"
    room.host.fail(FailureKind.SESSION_START)
    await room.state(SessionState.CLOSING)
    room.host.close_session()
    await room.session.close()


async def test_a_fatal_failure_ends_the_process_after_clients_were_told(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "shout")
    started.host.fail(FailureKind.STEP_TIMEOUT, "a step took longer than 60 s", fatal=True)
    await until(lambda: started.terminated != [])
    assert started.terminated == ["a step took longer than 60 s"]
    assert viewer.on_data[-1].error.code == "internal_error"
    assert viewer.on_control[-1].session_ended.reason == "error"
    assert viewer.is_closed
    assert started.ended == ["error"]
    assert started.session.state is SessionState.TERMINATED
    assert started.transitions()[-2][0] == "eviction"
    assert not started.session.health().ok


@pytest.mark.usefixtures("logging_as_before")
@pytest.mark.parametrize("fatal", [False, True])
async def test_lines_bear_the_session_until_it_is_over(room: Room, fatal: bool) -> None:
    log, stream = get_logger("elsewhere"), io.StringIO()
    configure("json", "info", stream=stream)
    log.info("before")
    await room.started()
    log.info("while")
    room.host.fail(fatal=fatal)
    await room.state(SessionState.TERMINATED if fatal else SessionState.READY)
    await until(lambda: room.ended == ["error"])
    await settle()
    log.info("after")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    sessions = {x["event"]: x.get("session") for x in lines if x["logger"] == "elsewhere"}
    assert sessions["while"] is not None
    assert (sessions["before"], sessions["after"]) == (None, None)


async def test_a_fatal_failure_without_a_session(room: Room) -> None:
    room.host.fail(FailureKind.HOST, "the host is lost", fatal=True)
    await until(lambda: room.terminated == ["the host is lost"])
    with pytest.raises(SessionUnavailableError, match="the host is lost"):
        await room.started()


async def test_a_fatal_failure_while_closing(started: Room) -> None:
    started.host.is_prompt = False
    await started.session.stop_session()
    started.host.fail(FailureKind.STEP_TIMEOUT, "stuck", fatal=True)
    await until(lambda: started.terminated == ["stuck"])


async def test_a_failure_of_a_session_that_is_over_is_nobodys(started: Room) -> None:
    old = started.host.session_id
    await started.session.stop_session()
    await started.state(SessionState.READY)
    await started.started()
    started.host.session_id = old
    started.host.fail()
    started.host.close_session()
    await settle()
    assert started.session.state is SessionState.WAITING


async def test_a_host_that_fails_twice_ends_one_session(started: Room) -> None:
    started.host.fail()
    started.host.fail()
    await started.state(SessionState.READY)
    assert started.ended == ["error"]


async def test_a_host_that_is_gone_refuses_the_start(room: Room) -> None:
    room.host.is_closed = True
    with pytest.raises(SessionUnavailableError):
        await room.started()
    await until(lambda: len(room.terminated) == 1)


async def test_messages_after_the_end_reach_nobody(started: Room) -> None:
    viewer = started.v1()
    await started.session.stop_session()
    count = len(viewer.sent)
    started.host.send("tick", {})
    await settle()
    assert len(viewer.sent) == count


async def test_no_task_and_no_error_line_is_left(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(50):
        viewer = started.v1(5000 + n)
        viewer.call("data_1", "shout")
        viewer.vanish()
    await started.session.close()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
