"""Commands, replies and failures, as both kinds of client see them."""

import asyncio
import json
from typing import Any

import pytest
from tests.unit.session.room import Room, retained, settle
from tests.waiting import until

from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel


async def test_a_returned_message_is_the_answer(started: Room) -> None:
    asker, other = started.v1(5000), started.v1(5001)
    asker.call("data_1", "echo", text="hi")
    [call] = started.host.calls()
    assert (call.name, call.arguments, call.client_id) == ("echo", {"text": "hi"}, "client-5000")
    started.host.reply(call, "pong", {"text": "hi"})
    await until(lambda: len(asker.on_data) == 1)
    [answer] = asker.on_data
    assert (answer.request_id, answer.kind) == ("data_1", 2)
    assert dict(answer.message.data) == {"text": "hi"}
    assert other.on_data == []  # a reply goes only to the asker


async def test_nothing_returned_is_an_empty_acknowledgement(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "shout")
    started.host.reply(started.host.calls()[0])
    await until(lambda: viewer.sent != [])
    assert viewer.sent == [(Channel.DATA, b"\x0a\x06data_1\x10\x02")]


async def test_an_authors_code_and_message_are_passed_through(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "shout")
    started.host.reply(started.host.calls()[0], code="too_dark", text="light a lamp")
    await until(lambda: viewer.on_data != [])
    error = viewer.on_data[0].error
    assert (error.code, error.message) == ("too_dark", "light a lamp")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no_such_command", {}),
        ("echo", {}),
        ("echo", {"text": 5}),
        ("echo", {"text": "a", "more": 1}),
        ("set_speed", {"speed": 11}),
        ("set_speed", {"speed": "3"}),
        ("set_speed", {"speed": True}),
        ("set_speed", {"speed": float("nan")}),
        ("set_speed", {"speed": float("inf")}),
        ("set_mode", {"mode": "dusk"}),
    ],
)
async def test_a_wrong_call_is_refused_and_not_run(
    started: Room, name: str, arguments: dict[str, Any]
) -> None:
    viewer = started.v1()
    viewer.call("data_1", name, **arguments)
    assert viewer.answers() == [("data_1", "invalid_command")]
    assert started.host.calls() == []
    viewer.call("data_2", "set_speed", speed=3.0)
    assert started.host.calls()[0].arguments == {"speed": 3.0}


@pytest.mark.parametrize(
    "text",
    [
        '{"scope":"application","data":{"type":"set_speed","data":{"speed":NaN}}}',
        '{"scope":"application","data":{"type":"set_speed","data":{"speed":"NaN"}}}',
        '{"scope":"application","data":{"type":"set_speed","data":{"speed":1e999}}}',
        '{"scope":"application","data":{"type":"set_speed","data":{"speed":true}}}',
        '{"scope":"application","data":{"type":"set_speed","data":[]}}',
        '{"scope":"application","data":{"type":"no_such"}}',
        "not JSON",
        "[]",
        b"\x00\x01binary",
    ],
)
async def test_v0_gets_no_error_and_goes_on(started: Room, text: str | bytes) -> None:
    viewer = started.client(has_control=False)
    viewer.say(Channel.DATA, text)
    assert viewer.sent == []
    assert started.host.calls() == []
    viewer.call_json("set_speed", speed=3)
    assert started.host.calls()[0].arguments == {"speed": 3.0}


async def test_v0_gets_no_acknowledgement_only_messages(started: Room) -> None:
    viewer = started.client(has_control=False)
    viewer.call_json("shout")
    viewer.call_json("echo", text="hi")
    shout, echo = started.host.calls()
    started.host.reply(shout)
    started.host.reply(echo, "pong", {"text": "hi"})
    await until(lambda: viewer.sent != [])
    assert viewer.texts == [
        {"scope": "application", "data": {"type": "pong", "data": {"text": "hi"}}}
    ]


async def test_v0_errors_are_silent(started: Room) -> None:
    viewer = started.client(has_control=False)
    viewer.call_json("shout")
    started.host.reply(started.host.calls()[0], code="internal_error")
    await settle()
    assert viewer.sent == []


async def test_a_missing_request_id_is_minted(started: Room) -> None:
    viewer = started.v1()
    viewer.call("", "shout")
    started.host.reply(started.host.calls()[0])
    await until(lambda: viewer.on_data != [])
    [answer] = viewer.on_data
    assert answer.request_id
    assert answer.kind == 2


async def test_a_file_that_is_not_here_is_unresolved_at_once(started: Room) -> None:
    viewer = started.v1()
    envelope = pb.DataClientMessage(request_id="data_1", kind=1)
    envelope.command.type = "show_file"
    file = envelope.command.uploads["file"]
    file.upload_id, file.name, file.mime_type, file.size = "u1", "a.png", "image/png", 3
    viewer.say(Channel.DATA, envelope.SerializeToString())
    inline = {"upload_id": "u1", "name": "a.png", "mime_type": "image/png", "size": 3}
    viewer.call("data_2", "show_file", file=inline)
    viewer.call("data_3", "set_image", image=inline)
    assert viewer.answers() == [
        ("data_1", "unresolved_upload"),
        ("data_2", "unresolved_upload"),
        ("data_3", "unresolved_upload"),
    ]
    assert started.host.calls() == []


async def test_a_file_for_an_argument_that_takes_none_is_refused(started: Room) -> None:
    viewer = started.v1()
    envelope = pb.DataClientMessage(request_id="data_1", kind=1)
    envelope.command.type = "echo"
    envelope.command.uploads["text"].upload_id = "u1"
    viewer.say(Channel.DATA, envelope.SerializeToString())
    assert viewer.answers() == [("data_1", "invalid_command")]


async def test_a_step_of_a_streamed_session_is_refused(started: Room) -> None:
    viewer = started.v1()
    envelope = pb.DataClientMessage(request_id="data_1", kind=1)
    envelope.request_step.SetInParent()
    viewer.say(Channel.DATA, envelope.SerializeToString())
    assert viewer.answers() == [("data_1", "invalid_command")]


async def test_an_answer_too_large_for_the_channel_is_an_error(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "echo", text="hi")
    started.host.reply(started.host.calls()[0], "pong", {"text": "x" * 300_000})
    await until(lambda: viewer.on_data != [])
    assert viewer.answers() == [("data_1", "internal_error")]


async def test_an_answer_that_cannot_be_encoded_is_an_error(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "echo", text="hi")
    started.host.reply(started.host.calls()[0], "pong", {"text": "\ud800"})
    await until(lambda: viewer.on_data != [])
    assert viewer.answers() == [("data_1", "internal_error")]


async def test_a_stop_answers_what_is_pending(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "shout")
    viewer.call("data_2", "shout")
    await started.session.stop_session()
    assert viewer.answers() == [("data_1", "session_ended"), ("data_2", "session_ended")]
    started.host.reply(started.host.calls()[0])  # too late, and twice
    await settle()
    assert len(viewer.answers()) == 2


async def test_a_broadcast_reaches_everyone_in_their_own_version(started: Room) -> None:
    new, old = started.v1(5000), started.client(5001, has_control=False)
    started.host.send("tick", {"n": 1})
    await until(lambda: old.sent != [])
    [tick] = new.on_data
    assert (tick.request_id, tick.kind, tick.message.type) == ("", 3, "tick")
    assert old.texts == [{"scope": "application", "data": {"type": "tick", "data": {"n": 1}}}]


async def test_a_message_to_one_client_reaches_that_one(started: Room) -> None:
    one, other = started.v1(5000), started.v1(5001)
    started.host.send("tick", {}, client_id="client-5001")
    started.host.send("tick", {}, client_id="client-gone")
    await until(lambda: other.sent != [])
    assert one.sent == []


async def test_messages_are_heard_in_the_order_of_sending(started: Room) -> None:
    viewer = started.v1()
    for n in range(2000):
        started.host.send("tick", {"n": n})
    await until(lambda: len(viewer.sent) == 2000)
    assert [frame.message.data["n"] for frame in viewer.on_data] == list(range(2000))


async def test_commands_are_recorded_once_accepted(started: Room) -> None:
    viewer = started.v1()
    viewer.call("data_1", "echo", text="hi")
    viewer.call("data_2", "echo", text=5)
    viewer.call("data_3", "echo", text="x" * 10_000)
    events = [e for e in retained(started.session.events) if e["event"] == "command"]
    assert [event["detail"] for event in events] == [
        {"name": "echo", "args": {"text": "hi"}, "conn_id": 5000},
        {"name": "echo", "args": {}, "conn_id": 5000},
    ]


async def test_refused_and_failed_commands_are_recorded_as_errors(
    started: Room,
) -> None:
    viewer = started.v1()
    viewer.call("data_1", "set_speed", speed=77_077)
    viewer.call("data_2", "no_such_command")
    viewer.call("data_3", "shout")
    started.host.reply(started.host.calls()[0], code="too_dark", text="light a lamp")
    viewer.call("data_4", "shout")
    started.host.reply(started.host.calls()[-1], code="internal_error", text="it failed")
    await until(lambda: len(viewer.answers()) == 4)
    errors = [e["detail"] for e in retained(started.session.events) if e["event"] == "error"]
    assert [(error["request_id"], error["command"], error["code"]) for error in errors] == [
        ("data_1", "set_speed", "invalid_command"),
        ("data_2", "no_such_command", "invalid_command"),
        ("data_3", "shout", "too_dark"),
        ("data_4", "shout", "internal_error"),
    ]
    assert errors[2] == {
        "message": "light a lamp",
        "command": "shout",
        "code": "too_dark",
        "conn_id": 5000,
        "request_id": "data_3",
        "transport": "webrtc",
    }


async def test_a_refusal_is_one_line_in_the_log_without_values(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    viewer = started.v1()
    viewer.call("data_1", "set_speed", speed=77_077)
    [line] = [each.getMessage() for each in caplog.records if "command_refused" in str(each.msg)]
    for said in ("client-5000", "set_speed", "invalid_command", "speed"):
        assert said in line
    assert "77077" not in caplog.text


async def test_a_flood_of_wrong_commands_is_no_flood_of_lines(started: Room) -> None:
    viewer = started.v1()
    for n in range(500):
        viewer.call(f"data_{n}", "no_such_command")
    assert len(viewer.answers()) == 500
    errors = [e for e in retained(started.session.events) if e["event"] == "error"]
    assert 0 < len(errors) <= 100


async def test_what_an_author_says_to_a_slow_client_is_dropped_and_it_stays(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    slow, other = started.v1(), started.v1(5001)
    slow.is_full = True
    for _ in range(3):
        started.host.send("tick", {})
    await until(lambda: len(other.sent) == 3)
    slow.is_full = False
    started.host.send("tick", {})
    await until(lambda: len(slow.sent) == 1)
    assert not slow.is_closed
    assert caplog.text.count("messages_dropped") == 1


async def test_a_client_that_does_not_even_read_its_answers_is_closed(started: Room) -> None:
    viewer = started.v1()
    viewer.is_full = True
    viewer.call("data_1", "no_such_command")
    await until(lambda: viewer.is_closed)
    await started.state(started.session.state.ORPHANED)


async def test_no_command_reaches_a_session_that_ends(started: Room) -> None:
    viewer = started.v1()
    await started.session.stop_session()
    viewer.call("data_9", "shout")
    assert started.host.calls() == []


async def test_arguments_never_reach_the_log(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    viewer = started.v1()
    viewer.call("data_1", "echo", text="a secret wish")
    viewer.call("data_2", "set_mode", mode="a secret wish")
    viewer.call("data_3", "a secret wish")
    viewer.say(Channel.DATA, "a secret wish")
    started.host.reply(started.host.calls()[0], "pong", {"text": "a secret wish" * 99_999})
    await asyncio.sleep(0)
    await settle()
    assert "secret wish" not in caplog.text


async def test_junk_is_logged_once_per_client(
    started: Room, caplog: pytest.LogCaptureFixture
) -> None:
    viewer = started.client(has_control=False)
    for _ in range(50):
        viewer.say(Channel.DATA, "junk")
    assert caplog.text.count("frame_unreadable") == 1
    viewer.say(Channel.DATA, json.dumps({"scope": "runtime", "data": {"type": "ping"}}))


@pytest.mark.parametrize("text", ["half \ud800", "x" * 300_000])
async def test_a_refusal_that_cannot_be_sent_is_answered_all_the_same(
    started: Room, text: str
) -> None:
    viewer = started.v1()
    viewer.call("data_1", "shout")
    started.host.reply(started.host.calls()[0], code="too_dark", text=text)
    await until(lambda: viewer.answers() == [("data_1", "internal_error")])
