"""The client's half of the v1 wire: messages to frames and back. ``wire`` has the server's half."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from google.protobuf.json_format import MessageToDict

from reactor_runtime.wire import messages as say
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel

_REQUEST, _NOTIFICATION = 1, 3


def encode_command(
    request_id: str,
    name: str,
    arguments: Mapping[str, Any],
    uploads: Mapping[str, say.UploadReference],
) -> bytes:
    """Return the frame, for the data channel, that calls a command.

    Raises:
        ValueError: An argument has no form on the wire.
    """
    envelope = pb.DataClientMessage(request_id=request_id, kind=_REQUEST)
    envelope.command.type = name
    envelope.command.data.update(arguments)
    for key, file in uploads.items():
        envelope.command.uploads[key].CopyFrom(pb.UploadReference(**asdict(file)))
    return bytes(envelope.SerializeToString())


def encode_control(request_id: str = "", **payload: Any) -> bytes:
    """Return the frame, for the control channel, of the one message in *payload*."""
    kind = _REQUEST if request_id else _NOTIFICATION
    envelope = pb.ControlClientMessage(request_id=request_id, kind=kind, **payload)
    return bytes(envelope.SerializeToString())


def encode_file_uploaded(file: say.UploadReference) -> bytes:
    """Return the word that the bytes of a file have been sent."""
    return encode_control(file_uploaded=pb.FileUploaded(**asdict(file)))


def encode_ping() -> bytes:
    """Return a sign of life."""
    return encode_control(ping=pb.Ping())


def decode(channel: Channel, frame: bytes | str) -> say.ServerMessage | None:
    """Return what the server said, ``None`` for what tests have no use for."""
    assert isinstance(frame, bytes), "a v1 client gets protobuf"
    is_data = channel is Channel.DATA
    envelope = pb.DataServerMessage() if is_data else pb.ControlServerMessage()
    envelope.ParseFromString(frame)
    read = _READERS.get((channel, envelope.WhichOneof("payload")))
    return None if read is None else read(envelope)


_READERS: dict[tuple[Channel, str | None], Callable[[Any], say.ServerMessage]] = {
    (Channel.DATA, "message"): lambda e: say.Message(
        request_id=e.request_id, name=e.message.type, body=MessageToDict(e.message.data)
    ),
    (Channel.DATA, "error"): lambda e: say.Failure(
        request_id=e.request_id, code=e.error.code, message=e.error.message
    ),
    (Channel.DATA, None): lambda e: say.Acknowledgement(request_id=e.request_id),
    (Channel.CONTROL, "error"): lambda e: say.ControlFailure(
        request_id=e.request_id, code=e.error.code, message=e.error.message
    ),
    (Channel.CONTROL, "model_schema"): lambda e: say.Schema(
        request_id=e.request_id, document=MessageToDict(e.model_schema.openapi)
    ),
    (Channel.CONTROL, "publish_track"): lambda e: say.PublishGranted(request_id=e.request_id),
    (Channel.CONTROL, "moderation"): lambda e: say.Moderation(
        action=e.moderation.action, command=e.moderation.command, message=e.moderation.message
    ),
    (Channel.CONTROL, "session_ended"): lambda e: say.SessionEnded(reason=e.session_ended.reason),
}
