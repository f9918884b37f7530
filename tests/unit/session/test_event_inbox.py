"""The inbox: its bound, what yields to what, and that each command is answered exactly once."""

from collections import Counter

import pytest
from tests.unit.session.room import Room, Viewer, settle
from tests.waiting import until

from reactor_runtime.host.events import ClientLeft, CommandCalled
from reactor_runtime.session.session_settings import SessionSettings

UNHURRIED = SessionSettings(commands_per_s=1e9, command_burst=100_000)


async def started(settings: SessionSettings) -> Room:
    room = Room(settings)
    await room.ready()
    await room.started()
    return room


@pytest.fixture
async def open_room() -> Room:
    """A session whose commands reach the host at once, however many."""
    return await started(UNHURRIED)


def shout(viewer: Viewer, count: int, start: int = 0) -> None:
    for n in range(start, start + count):
        viewer.call(f"shout_{n}", "shout")


async def answered(viewer: Viewer, count: int) -> None:
    await until(lambda: len(viewer.answers()) == count)


async def test_pending_calls_that_set_one_field_coalesce(open_room: Room) -> None:
    viewer = open_room.v1()
    for n in range(5):
        viewer.call(f"data_{n}", "set_speed", speed=n)
    assert viewer.answers() == [(f"data_{n}", "ok") for n in range(4)]
    [left] = open_room.host.pending.values()
    assert left.arguments == {"speed": 4.0}
    open_room.host.reply(left)
    await until(lambda: len(viewer.answers()) == 5)


async def test_other_fields_other_clients_and_other_commands_do_not(open_room: Room) -> None:
    one, other = open_room.v1(5000), open_room.v1(5001)
    one.call("data_1", "set_speed", speed=1)
    one.call("data_2", "set_mode", mode="night")
    one.call("data_3", "echo", text="a")
    one.call("data_4", "echo", text="b")
    other.call("data_1", "set_speed", speed=2)
    assert len(open_room.host.pending) == 5
    assert one.answers() == other.answers() == []


async def test_a_call_that_runs_already_is_let_run(open_room: Room) -> None:
    viewer = open_room.v1()
    viewer.call("data_1", "set_speed", speed=1)
    first = open_room.host.calls()[0]
    open_room.host.begin(first)
    viewer.call("data_2", "set_speed", speed=2)
    assert viewer.answers() == []
    open_room.host.reply(first)
    open_room.host.reply(open_room.host.calls()[1])
    await until(lambda: viewer.answers() == [("data_1", "ok"), ("data_2", "ok")])


async def test_when_full_the_oldest_of_the_same_name_is_superseded(open_room: Room) -> None:
    viewer = open_room.v1()
    shout(viewer, 256)
    assert viewer.answers() == []
    shout(viewer, 2, start=256)
    assert viewer.answers() == [("shout_0", "superseded"), ("shout_1", "superseded")]
    assert len(open_room.host.pending) == 256


async def test_when_full_of_others_the_new_one_is_overloaded(open_room: Room) -> None:
    viewer = open_room.v1()
    shout(viewer, 256)
    viewer.call("echo_0", "echo", text="a")
    assert viewer.answers() == [("echo_0", "overloaded")]
    assert len(open_room.host.pending) == 256
    other = open_room.v1(5001)
    other.call("echo_0", "echo", text="a")
    assert other.answers() == []  # each client has an inbox of its own


async def test_an_answer_makes_room(open_room: Room) -> None:
    viewer = open_room.v1()
    shout(viewer, 256)
    open_room.host.reply(open_room.host.calls()[0])
    await until(lambda: viewer.answers() == [("shout_0", "ok")])
    viewer.call("echo_0", "echo", text="a")
    assert len(viewer.answers()) == 1


async def test_bytes_are_bounded_as_well() -> None:
    room = await started(SessionSettings(max_pending_bytes=10_000))
    viewer = room.v1()
    viewer.call("data_1", "echo", text="x" * 6000)
    viewer.call("data_2", "shout")
    viewer.call("data_3", "echo", text="x" * 6000)
    assert viewer.answers() == [("data_1", "superseded")]
    viewer.call("data_4", "echo", text="x" * 20_000)
    assert ("data_4", "overloaded") in viewer.answers()
    await room.session.close()


async def test_past_its_rate_a_client_waits_and_nothing_is_lost(started: Room) -> None:
    viewer = started.v1()
    shout(viewer, 100)
    assert len(started.host.calls()) == 64
    await started.clock.advance(0.01)
    assert 64 < len(started.host.calls()) < 100
    await started.clock.advance(0.2)
    assert len(started.host.calls()) == 100
    assert [call.call_id for call in started.host.calls()] == sorted(
        call.call_id for call in started.host.calls()
    )


async def test_a_client_who_waits_for_each_answer_waits_for_nothing_else(started: Room) -> None:
    viewer = started.v1()
    for n in range(200):  # far past the burst, and no time passes
        viewer.call(f"shout_{n}", "shout")
        [call] = started.host.pending.values()
        started.host.reply(call)
        await answered(viewer, n + 1)
    shout(viewer, 3, start=200)
    assert len(started.host.pending) == 1  # the others come too fast
    await started.clock.advance(0.1)
    assert len(started.host.pending) == 3


async def test_taking_back_a_call_is_no_answer_that_was_waited_for(started: Room) -> None:
    viewer = started.v1()
    for n in range(200):
        viewer.call(f"data_{n}", "set_speed", speed=n % 10)
    assert len(started.host.calls()) <= 64
    await started.clock.advance(0.1)
    assert started.host.calls()[-1].arguments == {"speed": 9.0}


async def test_a_flood_of_one_field_keeps_the_last_value_and_the_bound(started: Room) -> None:
    viewer = started.v1()
    for n in range(10_000):
        viewer.call(f"data_{n}", "set_speed", speed=n % 10)
        for call in list(started.host.pending.values()):
            started.host.reply(call)
        if n % 100 == 0:
            await started.clock.advance(0.01)
    await started.clock.advance(1)
    for call in list(started.host.pending.values()):
        started.host.reply(call)
    await until(lambda: len(viewer.answers()) == 10_000)
    answers = Counter(request_id for request_id, _ in viewer.answers())
    assert set(answers.values()) == {1}
    assert started.host.calls()[-1].arguments == {"speed": 9.0}
    assert len(started.host.calls()) < 64 + 500 * 2.5


async def test_a_client_who_leaves_takes_back_nothing_it_sent(started: Room) -> None:
    viewer = started.v1()
    shout(viewer, 80)
    viewer.vanish()
    posted = started.host.posted[2:]
    assert [type(event) for event in posted] == [CommandCalled] * 80 + [ClientLeft]
    for call in started.host.calls():
        started.host.reply(call)
    await settle()
    assert viewer.answers() == []


async def test_held_calls_are_answered_when_the_session_ends(started: Room) -> None:
    viewer = started.v1()
    shout(viewer, 80)
    await started.session.stop_session()
    assert Counter(what for _, what in viewer.answers()) == {"session_ended": 80}
    await started.state(started.session.state.READY)
    await started.clock.advance(1)
    assert len(started.host.calls()) == 64


async def test_a_lost_host_answers_too(started: Room) -> None:
    viewer = started.v1()
    started.host.is_closed = True
    viewer.call("data_1", "shout")
    assert viewer.answers() == [("data_1", "session_ended")]


async def test_figures(open_room: Room) -> None:
    viewer = open_room.v1()
    viewer.call("data_1", "shout")
    viewer.call("data_2", "nothing")
    assert b"reactor_inbox_pending 1.0" in open_room.metrics.render()
    open_room.host.reply(open_room.host.calls()[0], code="any_code_of_an_author")
    await until(lambda: len(viewer.answers()) == 2)
    rendered = open_room.metrics.render()
    assert b"reactor_inbox_pending 0.0" in rendered
    assert b'reactor_commands_total{outcome="invalid_command"} 1.0' in rendered
    assert b'reactor_commands_total{outcome="refused_by_author"} 1.0' in rendered
