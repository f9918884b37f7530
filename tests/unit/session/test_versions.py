"""Which version a client speaks, and what is kept for it until that is known."""

import pytest
from tests.unit.session.room import Room, Viewer, settle
from tests.waiting import until

from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.wire.channel import Channel


async def test_a_message_from_the_connect_hook_reaches_a_v1_client(started: Room) -> None:
    viewer = started.client()
    started.host.send("welcome", {}, client_id=viewer.client_id)
    await settle()
    assert viewer.sent == []  # as JSON it would be lost
    viewer.ping()
    assert [frame.message.type for frame in viewer.on_data] == ["welcome"]


async def test_a_client_with_data_only_speaks_v0_at_once(started: Room) -> None:
    viewer = started.client(has_control=False)
    started.host.send("welcome", {})
    await until(lambda: viewer.sent != [])
    assert viewer.texts[0]["data"]["type"] == "welcome"


@pytest.mark.parametrize("channel", [Channel.DATA, Channel.CONTROL])
async def test_the_first_frame_on_either_channel_decides(started: Room, channel: Channel) -> None:
    started.host.send("early", {})
    viewer = started.client()
    viewer.say(channel, '{"scope":"runtime","data":{"type":"ping","data":{}}}')
    started.host.send("late", {})
    await until(lambda: viewer.sent != [])
    assert viewer.texts[-1]["data"]["type"] == "late"


async def test_bytes_that_begin_like_json_are_v0(started: Room) -> None:
    viewer = started.client()
    viewer.say(Channel.DATA, b'  {"scope":"runtime","data":{"type":"ping"}}')
    started.host.send("late", {})
    await until(lambda: viewer.sent != [])
    assert viewer.texts[-1]["data"]["type"] == "late"


async def test_it_stays_for_the_connections_life(started: Room) -> None:
    viewer = started.v1()
    viewer.call_json("shout")
    assert started.host.calls() == []
    viewer.call("data_1", "shout")
    assert len(started.host.calls()) == 1


async def test_the_newest_messages_are_kept_and_the_rest_counted() -> None:
    room = Room(SessionSettings(max_held_out=3))
    await room.ready()
    await room.started()
    viewer = room.client()
    for n in range(5):
        room.host.send("tick", {"n": n})
    await settle()
    viewer.ping()
    assert [frame.message.data["n"] for frame in viewer.on_data] == [2, 3, 4]
    assert b'reactor_messages_dropped_total{reason="version_unknown"} 2.0' in room.metrics.render()
    await room.session.close()


async def test_frames_of_a_connection_that_is_not_open_are_dropped_and_counted(
    started: Room,
) -> None:
    viewer = Viewer(started.session, 5000)
    viewer.call("data_1", "shout")
    viewer.open()
    viewer.call("data_2", "shout")
    viewer.vanish()
    viewer.call("data_3", "shout")
    await started.clock.advance(1)
    assert len(started.host.calls()) == 1
    dropped = b'reactor_messages_dropped_total{reason="not_open"} 2.0'
    assert dropped in started.metrics.render()
