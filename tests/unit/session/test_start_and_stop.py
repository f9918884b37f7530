"""Starting and stopping: what is answered, what happens, what is recorded."""

import asyncio

import pytest
from tests.unit.session.room import Room, retained, settle
from tests.waiting import until

from reactor_runtime.errors import (
    ModelLoadError,
    NoSessionError,
    SessionStateError,
    SessionUnavailableError,
    StartRefusedError,
    UnknownSessionError,
)
from reactor_runtime.host.events import ClientJoined, ClientLeft, SessionEnded, SessionStarted
from reactor_runtime.session.descriptor import SESSION_ID
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState


async def test_a_model_loads_then_a_session_can_start() -> None:
    room = Room()
    assert room.session.health() == (True, "loading", "the model is loading")
    assert room.session.schema() == {}
    assert "capabilities" not in room.session.descriptor()
    with pytest.raises(SessionUnavailableError) as caught:
        await room.started()
    assert caught.value.retry_after_s == 1
    with pytest.raises(SessionUnavailableError):
        await room.session.stop_session()
    await room.ready()
    assert room.session.health() == (True, "available", "the model is ready, no session is running")
    assert "/events/set_speed" in room.session.schema()["paths"]
    assert room.transitions() == [
        ("initializing", "created", "created"),
        ("initialization_success", "created", "ready"),
    ]
    await room.session.close()


async def test_a_model_that_does_not_load_ends_the_process() -> None:
    room = Room()
    room.host.load_error = ModelLoadError("m:Model", "load", "ValueError: no weights")
    await room.session.start()
    await room.state(SessionState.TERMINATED)
    assert room.terminated == ["m:Model failed in load: ValueError: no weights"]
    health = room.session.health()
    assert (health.ok, health.state) == (False, "terminated")
    assert "no weights" in health.detail
    with pytest.raises(SessionUnavailableError) as caught:
        await room.started()
    assert caught.value.retry_after_s is None
    await room.session.close()


async def test_a_start_is_told_to_the_model_and_answered_with_the_descriptor(room: Room) -> None:
    descriptor = await room.session.start_session({"seed": 7, "session_id": "mine"})
    assert descriptor["session_id"] == "00000000-0000-0000-0000-000000000000"
    assert descriptor["state"] == "waiting"
    assert room.session.descriptor() == descriptor
    assert room.session.health().state == "serving"
    [begun] = room.host.posted
    assert isinstance(begun, SessionStarted)
    assert begun.seed == 7
    assert begun.session_id not in ("mine", SESSION_ID)


async def test_a_seed_is_drawn_when_none_is_given(room: Room) -> None:
    await room.started()
    [begun] = room.host.posted
    assert isinstance(begun, SessionStarted)
    assert 0 <= begun.seed < 2**32


async def test_a_refused_start_leaves_everything_as_it_was(room: Room) -> None:
    with pytest.raises(StartRefusedError):
        await room.session.start_session({"generation": "stepped"})
    assert room.session.state is SessionState.READY
    assert room.host.posted == []
    await room.started()


async def test_a_second_start_is_refused_while_the_first_is_new(started: Room) -> None:
    with pytest.raises(SessionStateError) as caught:
        await started.started()
    assert caught.value.state == "waiting"
    assert started.session.state is SessionState.WAITING


async def test_a_refused_start_hurts_nobody(started: Room) -> None:
    viewer = started.v1()
    for _ in range(3):
        with pytest.raises(SessionStateError):
            await started.started()
    assert started.session.health().ok
    viewer.call("data_1", "shout")
    started.host.reply(started.host.calls()[0])
    await until(lambda: viewer.answers() == [("data_1", "ok")])


async def test_a_stop_tells_clients_then_closes_them_then_is_ready(started: Room) -> None:
    viewer = started.v1()
    await started.session.stop_session("that is all")
    assert viewer.on_control[-1].session_ended.reason == "that is all"
    told = [(frame.request_id, frame.error.code, frame.error.message) for frame in viewer.on_data]
    assert told == [("", "session_ended", "the session has ended: that is all")]
    await started.state(SessionState.READY)
    assert viewer.is_closed
    assert started.ended == ["stopped"]
    ended = started.host.posted[-1]
    assert isinstance(ended, SessionEnded)
    assert ended.reason == "stopped"


async def test_a_stop_without_a_reason_is_told_as_well(started: Room) -> None:
    viewer = started.v1()
    await started.session.stop_session()
    assert viewer.on_control[-1].session_ended.reason == "stopped"


async def test_a_client_of_the_older_wire_is_told_once(started: Room) -> None:
    viewer = started.client(has_control=False)
    await started.session.stop_session("that is all")
    ended = {"type": "sessionEnded", "data": {"reason": "that is all"}}
    assert viewer.texts == [{"scope": "runtime", "data": ended}]


async def test_moderation_is_told_as_moderation(started: Room) -> None:
    viewer = started.v1()
    await started.session.stop_session("not here", moderate=True)
    notice = viewer.on_control[-1].moderation
    assert (notice.action, notice.message) == ("terminate", "not here")
    assert viewer.on_data == []
    await started.state(SessionState.READY)
    assert started.ended == ["moderated"]


async def test_a_session_end_is_no_leave_of_its_clients(started: Room) -> None:
    started.v1()
    await started.session.stop_session()
    await started.state(SessionState.READY)
    kinds = [type(event) for event in started.host.posted]
    assert kinds == [SessionStarted, ClientJoined, SessionEnded]
    assert ClientLeft not in kinds


async def test_nothing_to_stop(room: Room) -> None:
    with pytest.raises(SessionStateError):
        await room.session.stop_session()
    await room.started()
    room.host.is_prompt = False
    await room.session.stop_session()
    with pytest.raises(SessionStateError) as caught:
        await room.session.stop_session()
    assert caught.value.state == "closing"
    room.host.close_session()


async def test_a_start_that_is_stopped_before_it_has_settled_is_a_conflict(room: Room) -> None:
    room.host.is_prompt = False  # session_started takes its time
    starting = asyncio.ensure_future(room.started())
    await room.state(SessionState.WAITING)
    await room.session.stop_session()
    room.host.close_session()
    with pytest.raises(SessionStateError, match="stopped as it started"):
        await starting
    room.host.is_prompt = True
    await room.started()


async def test_a_start_right_after_a_stop_waits_for_it(started: Room) -> None:
    started.host.is_prompt = False
    await started.session.stop_session()
    async with asyncio.TaskGroup() as group:
        start = group.create_task(started.started())
        await settle()
        assert started.session.state is SessionState.CLOSING
        started.host.is_prompt = True
        started.host.close_session()
    assert start.result()["state"] == "waiting"


async def test_a_start_during_a_long_closing_is_refused() -> None:
    room = Room(SessionSettings(start_wait_s=0.05))
    await room.ready()
    await room.started()
    room.host.is_prompt = False
    await room.session.stop_session()
    with pytest.raises(SessionStateError) as caught:
        await room.started()
    assert caught.value.state == "closing"
    room.host.close_session()
    await room.state(SessionState.READY)
    await room.session.close()


async def test_session_ids_are_checked_in_order(room: Room) -> None:
    with pytest.raises(NoSessionError, match="No session running"):
        room.session.require("anything")
    await room.started()
    with pytest.raises(UnknownSessionError, match="Unknown session"):
        room.session.require("anything")
    room.session.require(SESSION_ID)


async def test_the_record_of_a_session(room: Room) -> None:
    await room.session.start_session({"seed": 1})
    viewer = room.v1()
    viewer.vanish("left")
    await room.session.stop_session("done")
    await room.state(SessionState.READY)
    assert room.transitions()[2:] == [
        ("start_session", "ready", "waiting"),
        ("connection_opened", "waiting", "streaming"),
        ("connection_closed", "streaming", "orphaned"),
        ("stop_session", "orphaned", "closing"),
        ("cleanup_complete", "closing", "ready"),
    ]
    details = [event["detail"] for event in retained(room.session.events)][2:]
    assert details[0]["params"] == {"seed": 1}
    assert details[1]["conn_id"] == 5000
    assert details[3] == {"reason": "stopped", "close_reason": "done"}
    assert details[4]["reason"] == "stopped"


async def test_closing_tells_clients_and_ends_everything(started: Room) -> None:
    viewer = started.v1()
    await started.session.close()
    assert viewer.on_control[-1].session_ended.reason == "the server is shutting down"
    assert viewer.is_closed
    assert started.host.is_closed
    assert started.session.state is SessionState.TERMINATED
    assert started.terminated == []  # whoever closes it knows
    assert [event async for event in started.session.events.subscribe()] == []
    await started.session.close()


async def test_closing_does_not_wait_for_a_stuck_model() -> None:
    room = Room(SessionSettings(shutdown_s=0.05))
    await room.ready()
    await room.started()
    room.host.is_prompt = False
    async with asyncio.timeout(5):
        await room.session.close()
    assert room.session.state is SessionState.TERMINATED


async def test_a_host_that_never_ends_its_session_is_lost() -> None:
    room = Room(SessionSettings(host_close_s=0.05))
    await room.ready()
    await room.started()
    room.host.is_prompt = False
    await room.session.stop_session()
    await room.state(SessionState.TERMINATED)
    await until(lambda: room.terminated == ["the model did not end its session in time"])
    await room.session.close()


async def test_a_context_is_a_life() -> None:
    room = Room()
    async with room.session as session:
        await room.state(SessionState.READY)
    assert session.state is SessionState.TERMINATED
