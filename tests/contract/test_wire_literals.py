"""The wire as clients see it: literal bytes and texts, written down from the protocol's numbers.

Nothing here is made with our own protocol file or our own enums: a number that moves breaks a row.
"""

import json

import pytest

from reactor_runtime.wire import messages as say
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.json_codec import JsonCodec
from reactor_runtime.wire.protobuf_codec import ProtobufCodec

V1, V0 = ProtobufCodec(), JsonCodec()
FILE = say.UploadReference(upload_id="u1", name="a.png", mime_type="image/png", size=300)
DATA_1 = b"\x0a\x06data_1"
CTRL_1 = b"\x0a\x06ctrl_1"
REQUEST, RESPONSE, NOTIFICATION = b"\x10\x01", b"\x10\x02", b"\x10\x03"
FILE_FIELDS = b"\x0a\x02u1\x12\x05a.png\x1a\x09image/png\x20\xac\x02"
TWO = b"\x11\x00\x00\x00\x00\x00\x00\x00\x40"  # Value.number_value (2, double) = 2.0
ELEVEN = b"\x11\x00\x00\x00\x00\x00\x00\x26\x40"

V1_FROM_DATA = {
    "command": (
        DATA_1 + REQUEST
        # command (10), 33 bytes: type (1), data (2) = Struct of one field, speed = 2.0
        + b"\x52\x21\x0a\x09set_speed\x12\x14\x0a\x12\x0a\x05speed\x12\x09" + TWO,
        say.Command(request_id="data_1", name="set_speed", arguments={"speed": 2.0}, size_bytes=45),
    ),
    "command with a file": (
        DATA_1 + REQUEST
        # command (10): type (1), uploads (3) = map entry image → UploadReference
        + b"\x52\x2f\x0a\x09set_image\x1a\x22\x0a\x05image\x12\x19" + FILE_FIELDS,
        say.Command(
            request_id="data_1", name="set_image", uploads={"image": FILE}, size_bytes=59
        ),
    ),
    "request_step": (
        DATA_1 + REQUEST + b"\x5a\x00",
        say.StepRequest(request_id="data_1"),
    ),
    "error": (NOTIFICATION + b"\xc2\x02\x00", say.Unknown(what="error")),
    "unknown payload": (NOTIFICATION + b"\xa2\x01\x00", say.Unknown()),
    "unknown field beside a known one": (
        DATA_1 + REQUEST + b"\x5a\x00" + b"\xaa\x06\x01x",
        say.StepRequest(request_id="data_1"),
    ),
}  # fmt: skip

V1_FROM_CONTROL = {
    "ping": (NOTIFICATION + b"\x52\x00", say.Ping()),
    "request_schema": (
        CTRL_1 + REQUEST + b"\x5a\x00",
        say.SchemaRequest(request_id="ctrl_1"),
    ),
    "file_uploaded": (
        NOTIFICATION + b"\x62\x19" + FILE_FIELDS,
        say.FileUploaded(file=FILE),
    ),
    "request_clip": (
        CTRL_1 + REQUEST + b"\x6a\x09\x09\x00\x00\x00\x00\x00\x00\x08\x40",
        say.ClipRequest(request_id="ctrl_1", duration_s=3.0),
    ),
    "request_recording": (
        CTRL_1 + REQUEST + b"\x72\x00",
        say.ClipRequest(request_id="ctrl_1", duration_s=None),
    ),
    "publish_track": (
        CTRL_1 + REQUEST + b"\x7a\x08\x0a\x06webcam",
        say.PublishTrack(request_id="ctrl_1", track="webcam"),
    ),
    "pause_track": (
        NOTIFICATION + b"\x82\x01\x06\x0a\x04main",
        say.PauseTrack(track="main"),
    ),
    "resume_track": (
        NOTIFICATION + b"\x8a\x01\x06\x0a\x04main",
        say.ResumeTrack(track="main"),
    ),
    "unpublish_track": (
        NOTIFICATION + b"\x92\x01\x08\x0a\x06webcam",
        say.UnpublishTrack(track="webcam"),
    ),
    "client_stats": (NOTIFICATION + b"\x9a\x01\x00", say.Unknown(what="client_stats")),
    "client_stats, full": (
        # track_stats: timestamp, track_name, kind VIDEO, direction RECVONLY, video_codec VP8,
        # paused, metrics, frame_stages, codec_implementation, hardware_codec
        NOTIFICATION
        + b"\x9a\x01\x32\x0a\x30\x08\x01\x12\x04main\x18\x01\x20\x01\x28\x01\x38\x01"
        + b"\x42\x0e\x0a\x03fps\x11\x00\x00\x00\x00\x00\x00\x38\x40"
        + b"\x4a\x08\x0a\x06decode\x52\x02sw\x58\x01",
        say.Unknown(what="client_stats"),
    ),
    "error": (NOTIFICATION + b"\xc2\x02\x00", say.Unknown(what="error")),
}

V1_TO_CLIENTS = {
    "nothing returned": (
        say.Acknowledgement(request_id="data_1"),
        ("data", DATA_1 + RESPONSE),
    ),
    "a message returned": (
        say.Message(request_id="data_1", name="pong", body={"n": 11}),
        (
            "data",
            DATA_1 + RESPONSE
            + b"\x52\x18\x0a\x04pong\x12\x10\x0a\x0e\x0a\x01n\x12\x09" + ELEVEN,
        ),
    ),
    "a broadcast": (
        say.Message(name="pong", body={"n": 11}),
        ("data", NOTIFICATION + b"\x52\x18\x0a\x04pong\x12\x10\x0a\x0e\x0a\x01n\x12\x09" + ELEVEN),
    ),
    "a failure": (
        say.Failure(request_id="data_1", code="invalid_command", message="no"),
        ("data", DATA_1 + RESPONSE + b"\xc2\x02\x15\x0a\x0finvalid_command\x12\x02no"),
    ),
    "a failed session": (
        say.Failure(code="internal_error", message="no"),
        ("data", NOTIFICATION + b"\xc2\x02\x14\x0a\x0einternal_error\x12\x02no"),
    ),
    "model_schema": (
        say.Schema(request_id="ctrl_1", document={"openapi": "3.1.0"}),
        (
            "control",
            CTRL_1 + RESPONSE
            + b"\x52\x16\x0a\x14\x0a\x12\x0a\x07openapi\x12\x07\x1a\x053.1.0",
        ),
    ),
    "clip_ready": (
        say.ClipReady(
            request_id="ctrl_1",
            recording_id="r",
            kind="snap",
            start_marker=1.0,
            end_marker=4.0,
            now_marker=4.0,
            predicted_ready_at_ms=300,
            playlist_url="/c",
        ),
        (
            "control",
            CTRL_1 + RESPONSE + b"\x5a\x2b\x0a\x01r\x12\x04snap"
            b"\x19\x00\x00\x00\x00\x00\x00\xf0\x3f"
            b"\x21\x00\x00\x00\x00\x00\x00\x10\x40"
            b"\x29\x00\x00\x00\x00\x00\x00\x10\x40"
            b"\x30\xac\x02\x3a\x02/c",
        ),
    ),
    "clip_failed": (
        say.ClipFailed(request_id="ctrl_1", reason="recorder disabled or encoder crashed"),
        (
            "control",
            CTRL_1 + RESPONSE + b"\x62\x26\x0a\x24recorder disabled or encoder crashed",
        ),
    ),
    "moderation": (
        say.Moderation(
            action="terminate", input_kind="text", command="c", categories=("x",), message="m"
        ),
        (
            "control",
            NOTIFICATION + b"\x6a\x1a\x0a\x09terminate\x12\x04text\x1a\x01c\x22\x01x\x2a\x01m",
        ),
    ),
    "publish_track": (
        say.PublishGranted(request_id="ctrl_1"),
        ("control", CTRL_1 + RESPONSE + b"\x72\x00"),
    ),
    "publish refused": (
        say.ControlFailure(request_id="ctrl_1", code="publish_refused", message="no"),
        ("control", CTRL_1 + RESPONSE + b"\xc2\x02\x15\x0a\x0fpublish_refused\x12\x02no"),
    ),
    "session_ended": (
        say.SessionEnded(reason="stopped"),
        ("control", NOTIFICATION + b"\x7a\x09\x0a\x07stopped"),
    ),
}  # fmt: skip

V0_FROM_DATA = {
    "command": (
        '{"scope":"application","data":{"type":"set_speed","data":{"speed":2}}}',
        say.Command(name="set_speed", arguments={"speed": 2}, size_bytes=70),
    ),
    "command with a file": (
        '{"scope":"application","data":{"type":"set_image","data":{},"uploads":{"image":'
        '{"upload_id":"u1","name":"a.png","mime_type":"image/png","size":300}}}}',
        say.Command(name="set_image", uploads={"image": FILE}, size_bytes=150),
    ),
    "command without arguments": (
        '{"scope":"application","data":{"type":"reset"}}',
        say.Command(name="reset", size_bytes=47),
    ),
    "ping": ('{"scope":"runtime","data":{"type":"ping","data":{}}}', say.Ping()),
    "requestSchema": (
        '{"scope":"runtime","data":{"type":"requestSchema","data":{}}}',
        say.SchemaRequest(),
    ),
    "requestRecording": (
        '{"scope":"runtime","data":{"type":"requestRecording","data":{}}}',
        say.ClipRequest(duration_s=None),
    ),
    "requestClip": (
        '{"scope":"runtime","data":{"type":"requestClip","data":{"duration_seconds":3}}}',
        say.ClipRequest(duration_s=3.0),
    ),
    "fileUploaded": (
        '{"scope":"runtime","data":{"type":"fileUploaded","data":'
        '{"upload_id":"u1","name":"a.png","mime_type":"image/png","size":300}}}',
        say.FileUploaded(file=FILE),
    ),
    "requestCapabilities": (
        '{"scope":"runtime","data":{"type":"requestCapabilities","data":{}}}',
        say.CapabilitiesRequest(),
    ),
    "an unknown type": (
        '{"scope":"runtime","data":{"type":"tomorrow","data":{}}}',
        say.Unknown(what="tomorrow"),
    ),
    "an unknown scope": (
        '{"scope":"moon","data":{"type":"ping","data":{}}}',
        say.Unknown(what="ping"),
    ),
}

V0_FROM_CONTROL = {
    "publish_track": (
        '{"type":"request","method":"publish_track","request_id":"R","data":{"name":"webcam"}}',
        say.PublishTrack(request_id="R", track="webcam"),
    ),
    "resume_track": (
        '{"type":"notification","event":"resume_track","data":{"name":"main"}}',
        say.ResumeTrack(track="main"),
    ),
    "pause_track": (
        '{"type":"notification","event":"pause_track","data":{"name":"main"}}',
        say.PauseTrack(track="main"),
    ),
    "unpublish_track": (
        '{"type":"notification","event":"unpublish_track","data":{"name":"webcam"}}',
        say.UnpublishTrack(track="webcam"),
    ),
    "an unknown event": (
        '{"type":"notification","event":"tomorrow","data":{}}',
        say.Unknown(what="tomorrow"),
    ),
    "an unknown method": (
        '{"type":"request","method":"tomorrow","request_id":"R","data":{}}',
        say.Unknown(what="tomorrow"),
    ),
}

V0_TO_CLIENTS = {
    "a message": (
        say.Message(request_id="ignored", name="pong", body={"n": 11}),
        ("data", '{"scope":"application","data":{"type":"pong","data":{"n":11}}}'),
    ),
    "modelSchema": (
        say.Schema(document={"openapi": "3.1.0"}),
        ("data", '{"scope":"runtime","data":{"type":"modelSchema","data":{"openapi":"3.1.0"}}}'),
    ),
    "clipReady": (
        say.ClipReady(
            recording_id="r",
            kind="snap",
            start_marker=1.0,
            end_marker=4.0,
            now_marker=4.0,
            predicted_ready_at_ms=300,
            playlist_url="/c",
        ),
        (
            "data",
            '{"scope":"runtime","data":{"type":"clipReady","data":{"session_id":"r",'
            '"kind":"snap","start_marker":1.0,"end_marker":4.0,"now_marker":4.0,'
            '"predicted_ready_at_ms":300,"playlist_url":"/c"}}}',
        ),
    ),
    "clipFailed": (
        say.ClipFailed(reason="no"),
        ("data", '{"scope":"runtime","data":{"type":"clipFailed","data":{"reason":"no"}}}'),
    ),
    "moderation": (
        say.Moderation(categories=("x",), message="m"),
        (
            "data",
            '{"scope":"runtime","data":{"type":"moderation","data":{"action":"terminate",'
            '"input_kind":"","command":"","categories":["x"],"message":"m"}}}',
        ),
    ),
    "sessionEnded": (
        say.SessionEnded(reason="stopped"),
        ("data", '{"scope":"runtime","data":{"type":"sessionEnded","data":{"reason":"stopped"}}}'),
    ),
    "modelCapabilities": (
        say.Capabilities(commands=({"name": "reset", "description": "", "schema": {}},)),
        (
            "data",
            '{"scope":"runtime","data":{"type":"modelCapabilities","data":{"commands":'
            '[{"name":"reset","description":"","schema":{}}]}}}',
        ),
    ),
    "publish granted": (
        say.PublishGranted(request_id="R"),
        (
            "control",
            '{"type":"response","method":"publish_track","request_id":"R","data":{}}',
        ),
    ),
    "publish refused": (
        say.ControlFailure(request_id="R", code="publish_refused", message="no"),
        (
            "control",
            '{"type":"response","method":"publish_track","request_id":"R",'
            '"error":{"code":"publish_refused","message":"no"}}',
        ),
    ),
}

V0_UNSAID = {
    "an acknowledgement": say.Acknowledgement(request_id="data_1"),
    "a failure": say.Failure(request_id="data_1", code="invalid_command", message="no"),
    "a failed session": say.Failure(code="internal_error", message="no"),
}


@pytest.mark.parametrize(("frame", "message"), V1_FROM_DATA.values(), ids=V1_FROM_DATA)
def test_what_v1_clients_send_on_data(frame: bytes, message: say.ClientMessage) -> None:
    assert V1.decode(Channel("data"), frame) == message


@pytest.mark.parametrize(("frame", "message"), V1_FROM_CONTROL.values(), ids=V1_FROM_CONTROL)
def test_what_v1_clients_send_on_control(frame: bytes, message: say.ClientMessage) -> None:
    assert V1.decode(Channel("control"), frame) == message


@pytest.mark.parametrize(("message", "sent"), V1_TO_CLIENTS.values(), ids=V1_TO_CLIENTS)
def test_what_v1_clients_get(message: say.ServerMessage, sent: tuple[str, bytes]) -> None:
    encoded = V1.encode(message)
    assert encoded is not None
    assert (encoded.channel.value, encoded.frame) == sent


@pytest.mark.parametrize(("frame", "message"), V0_FROM_DATA.values(), ids=V0_FROM_DATA)
def test_what_v0_clients_send_on_data(frame: str, message: say.ClientMessage) -> None:
    assert V0.decode(Channel("data"), frame) == message
    assert V0.decode(Channel("data"), frame.encode()) == message


@pytest.mark.parametrize(("frame", "message"), V0_FROM_CONTROL.values(), ids=V0_FROM_CONTROL)
def test_what_v0_clients_send_on_control(frame: str, message: say.ClientMessage) -> None:
    assert V0.decode(Channel("control"), frame) == message


@pytest.mark.parametrize(("message", "sent"), V0_TO_CLIENTS.values(), ids=V0_TO_CLIENTS)
def test_what_v0_clients_get(message: say.ServerMessage, sent: tuple[str, str]) -> None:
    encoded = V0.encode(message)
    assert encoded is not None
    assert encoded.channel.value == sent[0]
    assert isinstance(encoded.frame, str)
    assert json.loads(encoded.frame) == json.loads(sent[1])


@pytest.mark.parametrize("message", V0_UNSAID.values(), ids=V0_UNSAID)
def test_what_v0_has_no_words_for(message: say.ServerMessage) -> None:
    assert V0.encode(message) is None
