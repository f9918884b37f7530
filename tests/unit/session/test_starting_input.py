"""What a start wants applied before anybody is here."""

import asyncio
from typing import Any

import pytest
from tests.unit.session.room import Room, settle
from tests.waiting import until

from reactor_runtime.errors import SessionStateError, StartRefusedError
from reactor_runtime.host.events import ClientJoined, CommandCalled, SessionStarted
from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState

INPUT = {
    "state": {"speed": 2, "mode": "night"},
    "commands": [{"command": "echo", "data": {"text": "a"}}, {"command": "shout"}],
}


async def starting(room: Room, **body: Any) -> "asyncio.Task[dict[str, Any]]":
    """Begin a start and wait until its calls are with the host."""
    asked = asyncio.create_task(room.session.start_session({"starting_input": INPUT, **body}))
    await until(lambda: len(room.host.calls()) == 4)
    return asked


async def test_state_comes_first_then_the_commands_and_clients_last(room: Room) -> None:
    asked = await starting(room)
    viewer = room.v1()
    assert [(call.name, dict(call.arguments)) for call in room.host.calls()] == [
        ("set_mode", {"mode": "night"}),
        ("set_speed", {"speed": 2.0}),
        ("echo", {"text": "a"}),
        ("shout", {}),
    ]
    kinds = [type(event) for event in room.host.posted]
    assert kinds == [SessionStarted, *4 * [CommandCalled], ClientJoined]
    assert not asked.done()
    room.host.reply(room.host.calls()[0])
    for call in room.host.calls()[1:]:
        room.host.reply(call, "pong", {"text": "a"})
    assert (await asked)["starting_input"] == {"applied": 4}
    assert viewer.on_data == []  # nobody asked


@pytest.mark.parametrize(
    ("given", "key", "text"),
    [
        ({"state": {"spede": 1}}, "starting_input.state.spede", "no such field"),
        ({"state": {"speed": 11}}, "starting_input.state.speed", "set_speed"),
        ({"state": {"image": {"upload_id": "x"}}}, "starting_input.state.image", "file"),
        ({"commands": [{"command": "no"}]}, "starting_input.commands[0]", "no such command"),
        (
            {"commands": [{"command": "shout"}, {"command": "echo", "data": {"text": 1}}]},
            "starting_input.commands[1]",
            "text",
        ),
    ],
)
async def test_what_the_model_cannot_take_is_refused_and_changes_nothing(
    room: Room, given: dict[str, Any], key: str, text: str
) -> None:
    with pytest.raises(StartRefusedError) as caught:
        await room.session.start_session({"starting_input": given})
    assert caught.value.key == key
    assert text in caught.value.reason
    assert room.session.state is SessionState.READY
    assert room.host.posted == []
    await room.started()


async def test_what_a_handler_refuses_ends_the_session_and_is_named(room: Room) -> None:
    asked = await starting(room)
    calls = room.host.calls()
    room.host.reply(calls[0])
    room.host.reply(calls[1], code="too_early", text="come back later")
    with pytest.raises(StartRefusedError) as caught:
        await asked
    assert str(caught.value) == "starting_input.state.speed: too_early: come back later"
    assert room.host.pending == {}  # the rest is not called
    await room.state(SessionState.READY)
    assert room.ended == ["start_refused"]
    assert "starting_input" not in room.session.descriptor()
    await room.started()


async def test_a_slow_input_is_not_waited_for_for_ever_and_its_refusal_is_told() -> None:
    room = Room(SessionSettings(starting_input_wait_s=0.05))
    await room.ready()
    descriptor = await (await starting(room))
    assert descriptor["starting_input"] == {"applied": 0}
    calls = room.host.calls()
    room.host.reply(calls[0])
    await until(lambda: room.session.descriptor()["starting_input"] == {"applied": 1})
    viewer = room.v1()
    room.host.reply(calls[1], code="too_early", text="come back later")
    await room.state(SessionState.READY)
    (failure,) = [frame.error for frame in viewer.on_data if frame.error.code]
    assert failure.code == "too_early"
    assert failure.message == "starting_input.state.speed: come back later"
    assert viewer.on_control[-1].session_ended.reason == "start_refused"
    await room.session.close()


async def test_a_session_stopped_meanwhile_does_not_keep_its_start_waiting(room: Room) -> None:
    asked = await starting(room)
    await room.session.stop_session()
    with pytest.raises(SessionStateError, match="stopped as it started"):
        await asked


# --- the number of steps ---


def report(room: Room, *, is_last: bool) -> StepReport:
    return StepReport(
        session_id=room.host.session_id,
        number=1,
        step_s=0.1,
        apply_s=0.0,
        wait_s=0.0,
        is_last=is_last,
    )


async def test_a_session_that_has_had_its_steps_ends_and_says_so(room: Room) -> None:
    descriptor = await room.session.start_session({"steps": 2})
    assert descriptor["steps"] == 2
    begun = room.host.posted[0]
    assert isinstance(begun, SessionStarted)
    assert begun.steps == 2
    viewer = room.v1()
    room.outlet.step_done(report(room, is_last=False))
    await settle()
    await room.clock.advance(1)
    assert room.session.state is SessionState.STREAMING
    room.outlet.step_done(report(room, is_last=True))
    await settle()
    await room.clock.advance(1)
    await room.state(SessionState.READY)
    told = "the session was to have 2 steps: done"
    assert viewer.on_control[-1].session_ended.reason == told
    assert room.ended == ["stopped"]
    assert room.session.descriptor()["ending"]["reason"] == told
    await room.started()


async def test_the_last_step_of_a_session_that_is_over_ends_no_other(room: Room) -> None:
    await room.session.start_session({"steps": 1})
    last = report(room, is_last=True)
    await room.session.stop_session()
    await room.state(SessionState.READY)
    await room.started()
    room.outlet.step_done(last)
    await settle()
    await room.clock.advance(1)
    assert room.session.state is SessionState.WAITING
