"""Both codecs, given anything at all."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.errors import WireError
from reactor_runtime.wire import messages as say
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.codec import Codec
from reactor_runtime.wire.json_codec import JsonCodec
from reactor_runtime.wire.protobuf_codec import ProtobufCodec

CODECS: list[Codec] = [JsonCodec(), ProtobufCodec()]
both = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.version)
text = st.text(st.characters(codec="utf-8"), max_size=20)
number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
value = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)
body = st.dictionaries(text, value, max_size=5)
channel = st.sampled_from(Channel)


@given(name=text, body=body, request_id=text)
def test_what_v1_sends_arrives_as_it_was(name: str, body: dict[str, Any], request_id: str) -> None:
    message = say.Message(request_id=request_id, name=name, body=body)
    encoded = ProtobufCodec().encode(message)
    assert encoded is not None
    # Field numbers of the two directions are alike here: what the server says, a client could say.
    found = ProtobufCodec().decode(Channel.DATA, encoded.frame)
    assert isinstance(found, say.Command)
    assert (found.request_id, found.name, found.arguments) == (request_id, name, body)


@given(name=text, body=body)
def test_what_v0_sends_arrives_as_it_was(name: str, body: dict[str, Any]) -> None:
    encoded = JsonCodec().encode(say.Message(name=name, body=body))
    assert encoded is not None
    found = JsonCodec().decode(Channel.DATA, encoded.frame)
    assert isinstance(found, say.Command)
    assert (found.name, found.arguments) == (name, body)


@both
@given(channel=channel, frame=st.binary(max_size=200) | st.text(max_size=200))
def test_anything_is_a_message_or_a_wire_error(
    codec: Codec, channel: Channel, frame: bytes | str
) -> None:
    with contextlib.suppress(WireError):
        codec.decode(channel, frame)


@given(
    channel=channel,
    content=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["scope", "data", "type", "method", "event", "request_id", "uploads", "name",
                 "size", "duration_seconds"]
            )
            | st.text(max_size=3),
            inner | st.sampled_from(["application", "runtime", "fileUploaded", "requestClip",
                                     "request", "notification", "publish_track"]),
            max_size=5,
        ),
        max_leaves=25,
    ),
)  # fmt: skip
def test_any_json_is_a_message_or_a_wire_error(channel: Channel, content: Any) -> None:
    frame = json.dumps(content)
    with contextlib.suppress(WireError):
        JsonCodec().decode(channel, frame)


@both
@pytest.mark.parametrize("unsent", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_become_null(codec: Codec, unsent: float) -> None:
    encoded = codec.encode(say.Message(name="m", body={"n": unsent, "deep": [{"n": unsent}]}))
    assert encoded is not None
    found = codec.decode(Channel.DATA, encoded.frame)
    assert isinstance(found, say.Command)
    assert found.arguments == {"n": None, "deep": [{"n": None}]}


def test_an_integer_past_every_double_becomes_null_in_v1() -> None:
    encoded = ProtobufCodec().encode(say.Message(name="m", body={"n": 10**400}))
    assert encoded is not None
    found = ProtobufCodec().decode(Channel.DATA, encoded.frame)
    assert isinstance(found, say.Command)
    assert found.arguments == {"n": None}


def deep(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth):
        found = {"a": found}
    return found


@both
def test_what_cannot_travel_is_a_wire_error(codec: Codec) -> None:
    for unsendable in (b"bytes", object(), {1, 2}):
        with pytest.raises(WireError):
            codec.encode(say.Message(name="m", body={"x": unsendable}))


def test_half_a_character_cannot_travel_in_v1() -> None:
    with pytest.raises(WireError):
        ProtobufCodec().encode(say.Message(name="m", body={"x": "\ud800"}))


def test_what_protobuf_cannot_nest_is_a_wire_error() -> None:
    with pytest.raises(WireError):
        ProtobufCodec().encode(say.Message(name="m", body=deep(5000)))


@pytest.mark.parametrize(
    "frame",
    [
        "not json",
        "[]",
        "1",
        "{}",
        '{"scope":"application"}',
        '{"scope":"application","data":[]}',
        '{"scope":"application","data":{"type":1}}',
        '{"scope":"application","data":{"type":"a","data":[1]}}',
        '{"scope":"application","data":{"type":"a","data":{"x":"\\ud800"}}}',
        '{"scope":"application","data":{"type":"a","uploads":{"f":1}}}',
        '{"scope":"runtime","data":{"type":"fileUploaded","data":{"upload_id":"u"}}}',
        '{"scope":"runtime","data":{"type":"requestClip","data":{"duration_seconds":true}}}',
        '{"scope":"runtime","data":{"type":"requestClip","data":{"duration_seconds":'
        + "9" * 400 + "}}}",
        '{"scope":"application","data":{"type":"a","data":{"x":' + "[" * 100 + "]" * 100 + "}}}",
        "[" * 10**5 + "]" * 10**5,
        '{"n":' + "9" * 10_000 + "}",
        b"\xff\xfe{}",
    ],
)  # fmt: skip
def test_what_is_no_v0_frame(frame: bytes | str) -> None:
    with pytest.raises(WireError):
        JsonCodec().decode(Channel.DATA, frame)


def test_nesting_up_to_the_bound_is_fine() -> None:
    frame = json.dumps({"scope": "application", "data": {"type": "a", "data": deep(60)}})
    assert isinstance(JsonCodec().decode(Channel.DATA, frame), say.Command)


@pytest.mark.parametrize(
    "frame", ['{"type":"request"}', '{"type":"response"}', '{"type":"notification","event":1}',
              '{"type":"request","method":"publish_track","request_id":"R"}',
              '{"type":"request","method":"publish_track","request_id":"'
              + "i" * 257 + '","data":{"name":"a"}}'],
)  # fmt: skip
def test_what_is_no_v0_control_frame(frame: str) -> None:
    with pytest.raises(WireError):
        JsonCodec().decode(Channel.CONTROL, frame)


def test_v1_takes_no_text_and_no_junk() -> None:
    for frame in ("text", b"\xff\xff\xff", b"\x0a\xff"):
        with pytest.raises(WireError):
            ProtobufCodec().decode(Channel.DATA, frame)


def test_v1_takes_no_endless_request_id() -> None:
    frame = pb.DataClientMessage(request_id="i" * 257, kind=1).SerializeToString()
    with pytest.raises(WireError):
        ProtobufCodec().decode(Channel.DATA, frame)


def test_a_struct_keeps_every_kind_of_value() -> None:
    body: dict[str, Any] = {"z": None, "b": True, "n": 1.5, "s": "é", "l": [1.0, [], {}], "o": {}}
    encoded = ProtobufCodec().encode(say.Message(name="m", body=body))
    assert encoded is not None
    found = ProtobufCodec().decode(Channel.DATA, encoded.frame)
    assert isinstance(found, say.Command)
    assert found.arguments == body
