"""Clips as clients ask for them; who makes them is a fake."""

import json
from collections.abc import AsyncIterator

import pytest
from tests.unit.session.room import FakeRecorder, Room

from reactor_runtime.session.event_log import LoggedEvent
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel


@pytest.fixture
def recorder() -> FakeRecorder:
    return FakeRecorder()


@pytest.fixture
async def recorded(recorder: FakeRecorder) -> AsyncIterator[Room]:
    """A running session that is recorded."""
    room = Room(recorder=recorder)
    await room.ready()
    await room.started()
    yield room
    await room.session.close()


async def test_the_last_seconds_are_promised_to_whoever_asks(
    recorded: Room, recorder: FakeRecorder
) -> None:
    viewer, other = recorded.v1(), recorded.v1(5001)
    viewer.control("ctrl_7", request_clip=pb.RequestClip(duration_seconds=3))
    [answer] = viewer.on_control
    assert (answer.request_id, answer.kind) == ("ctrl_7", 2)
    clip = answer.clip_ready
    assert (clip.session_id, clip.kind) == ("r" * 32, "snap")
    assert (clip.start_marker, clip.end_marker, clip.now_marker) == (6.933, 9.933, 9.933)
    assert clip.predicted_ready_at_ms == 1_700_000_000_123
    assert clip.playlist_url == "/clips?session_id=r&start=6.933&end=9.933"
    assert recorder.asked == [3.0]
    assert other.on_control == []


async def test_a_client_that_makes_no_links_of_paths_is_given_links(recorded: Room) -> None:
    viewer, other = recorded.v1(), recorded.v1(5001)
    viewer.link_prefix = "https://host:8080"
    for each in (viewer, other):
        each.control("ctrl_7", request_clip=pb.RequestClip(duration_seconds=3))
    path = "/clips?session_id=r&start=6.933&end=9.933"
    links = [each.on_control[0].clip_ready.playlist_url for each in (viewer, other)]
    assert links == [f"https://host:8080{path}", path]


async def test_a_recording_is_everything(recorded: Room, recorder: FakeRecorder) -> None:
    viewer = recorded.v1()
    viewer.control("ctrl_1", request_recording=pb.RequestRecording())
    assert viewer.on_control[0].clip_ready.kind == "recording"
    old = recorded.client(5001, has_control=False)
    old.say(Channel.DATA, '{"scope":"runtime","data":{"type":"requestRecording","data":{}}}')
    assert old.texts[0]["data"]["type"] == "clipReady"
    assert old.texts[0]["data"]["data"]["kind"] == "recording"
    assert recorder.asked == [None, None]


async def test_a_refusal_carries_its_reason(recorded: Room, recorder: FakeRecorder) -> None:
    recorder.refusal = "no media generated yet"
    viewer = recorded.v1()
    viewer.control("ctrl_1", request_clip=pb.RequestClip(duration_seconds=3))
    assert viewer.on_control[0].clip_failed.reason == "no media generated yet"
    assert "clip_ready" not in [e.payload["event"] for e in await events(recorded)]


async def test_operators_hear_of_every_clip(recorded: Room) -> None:
    recorded.v1().control("ctrl_1", request_clip=pb.RequestClip(duration_seconds=3))
    [detail] = [
        e.payload["detail"] for e in await events(recorded) if e.payload["event"] == "clip_ready"
    ]
    assert json.loads(json.dumps(detail)) == {
        "session_id": "r" * 32,
        "kind": "snap",
        "start_marker": 6.933,
        "end_marker": 9.933,
        "now_marker": 9.933,
        "predicted_ready_at_ms": 1_700_000_000_123,
        "playlist_url": "/clips?session_id=r&start=6.933&end=9.933",
    }


async def test_the_recorder_follows_the_session(recorder: FakeRecorder) -> None:
    room = Room(recorder=recorder)
    await room.ready()
    await room.started()
    viewer = room.v1()
    await viewer.close()
    room.v1(5001)
    await room.session.stop_session()
    await room.state(SessionState.READY)
    assert recorder.states == [
        SessionState.READY,
        SessionState.WAITING,
        SessionState.STREAMING,
        SessionState.ORPHANED,
        SessionState.STREAMING,
        SessionState.CLOSING,
        SessionState.READY,
    ]
    await room.session.close()
    assert recorder.states[-1] is SessionState.TERMINATED


async def events(room: Room) -> list[LoggedEvent]:
    log = room.session.events
    log.close()
    return [event async for event in log.subscribe(0)]


async def test_a_recording_has_the_name_that_its_session_was_given(recorder: FakeRecorder) -> None:
    room = Room(recorder=recorder)
    await room.ready()
    await room.session.start_session({"session_id": "take 7"})
    assert recorder.names == ["take 7"]
    await room.session.close()
