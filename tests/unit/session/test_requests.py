"""Everything a client asks for that is no command."""

import json

import pytest
from tests.unit.session.room import Room
from tests.waiting import until

from reactor_runtime.host.host_outlet import OutboundMessage
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel

FRAME = InputFrame(data=None)


async def test_the_schema_is_answered_whole(started: Room) -> None:
    viewer = started.v1()
    viewer.control("ctrl_1", request_schema=pb.RequestSchema())
    [answer] = viewer.on_control
    assert (answer.request_id, answer.kind) == ("ctrl_1", 2)
    document = started.session.schema()
    assert set(answer.model_schema.openapi["paths"]) == set(document["paths"])
    old = started.client(5001, has_control=False)
    old.say(Channel.DATA, '{"scope":"runtime","data":{"type":"requestSchema","data":{}}}')
    assert old.texts[0]["data"] == {"type": "modelSchema", "data": document}


async def test_the_older_list_of_commands(started: Room) -> None:
    old = started.client(5001, has_control=False)
    old.say(Channel.DATA, '{"scope":"runtime","data":{"type":"requestCapabilities","data":{}}}')
    commands = {c["name"]: c for c in old.texts[0]["data"]["data"]["commands"]}
    assert commands["echo"] == {
        "name": "echo",
        "description": "Say it back",
        "schema": {"text": {"type": "string", "required": True}},
    }
    assert commands["set_speed"]["schema"]["speed"]["maximum"] == 10
    assert commands["set_mode"]["schema"]["mode"]["enum"] == ["day", "night"]


@pytest.mark.parametrize("name", ["request_clip", "request_recording"])
async def test_clips_fail_with_a_reason_that_says_disabled(started: Room, name: str) -> None:
    viewer = started.v1()
    payload = {"request_clip": pb.RequestClip(duration_seconds=3)}.get(name, pb.RequestRecording())
    viewer.control("ctrl_1", **{name: payload})
    assert viewer.on_control[0].clip_failed.reason == "recorder disabled or encoder crashed"
    old = started.client(5001, has_control=False)
    old.say(Channel.DATA, '{"scope":"runtime","data":{"type":"requestRecording","data":{}}}')
    assert old.texts == [
        {
            "scope": "runtime",
            "data": {
                "type": "clipFailed",
                "data": {"reason": "recorder disabled or encoder crashed"},
            },
        }
    ]


async def test_resume_and_pause(started: Room) -> None:
    viewer = started.v1()
    viewer.control(resume_track=pb.ResumeTrack(name="main_video"))
    assert viewer.playing == {"main_video"}
    viewer.control(pause_track=pb.PauseTrack(name="main_video"))
    assert viewer.playing == set()
    assert viewer.sent == []


async def test_the_first_to_publish_has_the_track(started: Room) -> None:
    first, second = started.v1(5000), started.v1(5001)
    first.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    assert first.on_control[0].WhichOneof("payload") == "publish_track"
    second.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    assert second.on_control[0].error.code == "publish_refused"
    first.control("ctrl_2", publish_track=pb.PublishTrack(name="webcam"))
    assert first.on_control[1].WhichOneof("payload") == "publish_track"


async def test_a_track_is_free_again_after_unpublish_and_after_leaving(started: Room) -> None:
    first, second = started.v1(5000), started.v1(5001)
    first.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    second.control(unpublish_track=pb.UnpublishTrack(name="webcam"))  # not theirs
    second.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    assert second.on_control[-1].error.code == "publish_refused"
    first.control(unpublish_track=pb.UnpublishTrack(name="webcam"))
    second.control("ctrl_2", publish_track=pb.PublishTrack(name="webcam"))
    assert second.on_control[-1].WhichOneof("payload") == "publish_track"
    second.vanish()
    first.control("ctrl_3", publish_track=pb.PublishTrack(name="webcam"))
    assert first.on_control[-1].WhichOneof("payload") == "publish_track"


async def test_who_cannot_ask_has_a_track_while_it_sends(started: Room) -> None:
    older, newer = started.client(1001, has_control=False), started.v1(5000)
    older.show("webcam", FRAME)
    started.clock.jump(1.5)
    newer.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    assert newer.on_control[-1].error.code == "publish_refused"
    older.show("webcam", FRAME)
    started.clock.jump(1.5)
    newer.control("ctrl_2", publish_track=pb.PublishTrack(name="webcam"))
    assert newer.on_control[-1].error.code == "publish_refused"
    started.clock.jump(1.0)  # it cannot say that it has stopped
    newer.control("ctrl_3", publish_track=pb.PublishTrack(name="webcam"))
    assert newer.on_control[-1].WhichOneof("payload") == "publish_track"
    older.show("webcam", FRAME)
    assert len(started.host.frames) == 2
    started.clock.jump(5.0)  # who can ask keeps what it was granted
    older.show("webcam", FRAME)
    assert len(started.host.frames) == 2


@pytest.mark.parametrize("name", ["main_video", "nothing", ""])
async def test_only_input_tracks_can_be_published(started: Room, name: str) -> None:
    viewer = started.v1()
    viewer.control("ctrl_1", publish_track=pb.PublishTrack(name=name))
    assert viewer.on_control[0].error.code == "publish_refused"


async def test_frames_count_only_from_the_publisher(started: Room) -> None:
    first, second = started.v1(5000), started.v1(5001)
    first.show("webcam", FRAME)
    assert not started.session.wants_media(first, "webcam")
    first.control("ctrl_1", publish_track=pb.PublishTrack(name="webcam"))
    assert started.session.wants_media(first, "webcam")
    assert not started.session.wants_media(second, "webcam")
    first.show("webcam", FRAME)
    second.show("webcam", FRAME)
    first.show("nothing", FRAME)
    assert started.host.frames == [("webcam", FRAME)]


async def test_a_client_without_control_publishes_by_sending(started: Room) -> None:
    old, other = started.client(5000, has_control=False), started.client(5001, has_control=False)
    assert started.session.wants_media(old, "webcam")
    old.show("webcam", FRAME)
    other.show("webcam", FRAME)
    assert started.host.frames == [("webcam", FRAME)]
    assert not started.session.wants_media(other, "webcam")
    old.vanish()
    other.show("webcam", FRAME)
    assert len(started.host.frames) == 2


async def test_v0_publishes_on_its_control_channel(started: Room) -> None:
    viewer = started.client()
    request = {
        "type": "request",
        "method": "publish_track",
        "request_id": "R",
        "data": {"name": "webcam"},
    }
    viewer.say(Channel.CONTROL, json.dumps(request))
    other = started.client(5001)
    other.say(Channel.CONTROL, json.dumps(request))
    head = {"type": "response", "method": "publish_track", "request_id": "R"}
    assert viewer.texts == [{**head, "data": {}}]
    assert other.texts[0]["error"]["code"] == "publish_refused"


async def test_what_nobody_knows_is_ignored(started: Room) -> None:
    viewer = started.v1()
    viewer.control(client_stats=pb.ClientStats())
    viewer.control(file_uploaded=pb.FileUploaded(upload_id="u"))
    viewer.control(error=pb.Error(code="x"))
    viewer.say(Channel.CONTROL, b"\x10\x03\xa2\x01\x00")
    viewer.say(Channel.DATA, b"\x10\x03")
    assert viewer.sent == []
    assert started.session.state.is_running


async def test_too_many_questions_are_told_so(started: Room) -> None:
    viewer = started.v1()
    for n in range(60):
        viewer.control(f"ctrl_{n}", request_schema=pb.RequestSchema())
    kinds = [frame.WhichOneof("payload") for frame in viewer.on_control]
    assert len(kinds) == 60  # each got one answer
    assert kinds.count("model_schema") == 40
    assert viewer.on_control[-1].error.code == "overloaded"
    await started.clock.advance(1)
    viewer.control("ctrl_99", request_schema=pb.RequestSchema())
    assert viewer.on_control[-1].WhichOneof("payload") == "model_schema"


async def test_a_broadcast_too_large_for_one_client_is_told_to_it(started: Room) -> None:
    small = type(started.v1())(started.session, 5002, max_message_bytes=200)
    small.open()
    small.ping()
    other = started.v1(5003)
    body = {"text": "x" * 500}
    started.outlet.message(OutboundMessage(name="painted", body=body, client_id=None))
    await until(lambda: small.on_data != [] and other.on_data != [])
    [told], [heard] = small.on_data, other.on_data
    assert heard.message.type == "painted"
    assert (told.request_id, told.error.code) == ("", "message_too_large")
    assert told.error.message.startswith("painted cannot be sent to you: 5")
    assert told.error.message.endswith("past your limit of 200")


async def test_what_cannot_be_sent_is_logged_once_of_each_kind(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    small = type(started.v1())(started.session, 5002, max_message_bytes=200)
    small.open()
    small.ping()
    body = {"text": "x" * 500}
    for name in ("painted", "drawn", "painted", "painted", "drawn"):
        started.outlet.message(OutboundMessage(name=name, body=body, client_id=None))
    await until(lambda: len(small.on_data) == 5)
    assert [caplog.text.count(word) for word in ("message_not_sent", "drawn", "painted")] == [2] + [
        1
    ] * 2


async def test_a_schema_too_large_for_the_channel_is_an_error(started: Room) -> None:
    viewer = type(started.v1())(started.session, 5002, max_message_bytes=100)
    viewer.open()
    viewer.ping()
    viewer.control("ctrl_1", request_schema=pb.RequestSchema())
    await until(lambda: viewer.sent != [])
    assert viewer.on_control[0].error.code == "internal_error"
