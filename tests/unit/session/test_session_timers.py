"""What time alone does: silent clients, sessions nobody watches, figures."""

import pytest
from tests.unit.session.room import Room, retained

from reactor_runtime.host.events import ClientLeft
from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.testing.fake_connection import FakeConnection
from reactor_runtime.wire import reactor_pb2 as pb


async def test_twenty_seconds_of_silence_close_a_client(started: Room) -> None:
    viewer = started.v1()
    await started.clock.advance(20)
    assert not viewer.is_closed
    await started.clock.advance(2.1)
    assert viewer.is_closed
    assert started.session.state is SessionState.ORPHANED
    assert isinstance(started.host.posted[-1], ClientLeft)


async def test_any_frame_is_a_sign_of_life(started: Room) -> None:
    pings, calls, junk, shows = (started.v1(5000 + n) for n in range(4))
    shows.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    for _ in range(6):
        await started.clock.advance(10)
        pings.ping()
        calls.call("data_1", "shout")
        junk.call_json("junk")
        shows.show("webcam", InputFrame(data=None))
    assert not any(viewer.is_closed for viewer in (pings, calls, junk, shows))


async def test_one_that_takes_no_messages_lives_by_its_reports(started: Room) -> None:
    player = FakeConnection(started.session, max_message_bytes=0)
    player.open()
    for _ in range(6):
        await started.clock.advance(10)
        player.hear_from()
    started.host.send("news", {})
    started.host.send("news", {}, player.client_id)
    await started.clock.advance(2)
    assert started.session.state is SessionState.STREAMING
    assert player.sent == []
    assert not player.is_closed
    player.fall_silent(30)
    await started.clock.advance(24)
    assert player.is_closed


async def test_a_process_that_stood_still_blames_nobody(started: Room) -> None:
    viewer = started.v1()
    started.clock.jump(60)
    await started.clock.advance(2)
    assert not viewer.is_closed
    await started.clock.advance(21)
    assert viewer.is_closed


@pytest.mark.parametrize("orphaned", [False, True])
async def test_a_session_nobody_watches_ends_after_a_minute(started: Room, orphaned: bool) -> None:
    if orphaned:
        started.v1().vanish()
    await started.clock.advance(59)
    assert started.session.state.is_clientless
    await started.clock.advance(2)
    await started.state(SessionState.READY)
    assert started.ended == ["timed_out"]


async def test_a_client_who_comes_back_in_time_keeps_it(started: Room) -> None:
    started.v1(5000).vanish()
    await started.clock.advance(50)
    viewer = started.v1(5000)
    for _ in range(10):
        await started.clock.advance(10)
        viewer.ping()
    assert not viewer.is_closed
    viewer.vanish()
    await started.clock.advance(59)
    assert started.session.state is SessionState.ORPHANED


@pytest.mark.parametrize("disabled", [0.0, -1.0])
async def test_the_timeout_can_be_disabled(disabled: float) -> None:
    room = Room(SessionSettings(clientless_timeout_s=disabled))
    await room.ready()
    await room.started()
    await room.clock.advance(1000)
    assert room.session.state is SessionState.WAITING
    await room.session.close()


async def test_figures_are_published_while_a_session_runs(room: Room) -> None:
    await room.clock.advance(11)
    assert [e for e in retained(room.session.events) if e["event"] == "metric"] == []
    await room.started()
    room.v1()
    room.outlet.step_done(
        StepReport(session_id="s", number=7, step_s=0.01, apply_s=0.0, wait_s=0.0)
    )
    await room.clock.advance(5)
    [metric] = [e for e in retained(room.session.events) if e["event"] == "metric"]
    assert metric["from"] == metric["to"] == "streaming"
    assert metric["detail"] == {
        "name": "runtime_stats",
        "session_id": "00000000-0000-0000-0000-000000000000",
        "tracks": {},
        "connections": [{"conn_id": 5000, "version": "v1"}],
        "step": {"number": 7, "seconds": 0.01},
    }
