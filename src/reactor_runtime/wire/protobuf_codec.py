"""The v1 wire: one protobuf message per frame, four envelopes, as ``reactor.proto`` lays out."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.message import DecodeError, EncodeError

from reactor_runtime.errors import WireError
from reactor_runtime.wire import messages as say
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.codec import MAX_REQUEST_ID_CHARS, Encoded, WireVersion

_RESPONSE = 2
_NOTIFICATION = 3


class ProtobufCodec:
    """Implements ``Codec`` for v1. Stateless."""

    version = WireVersion.V1

    def decode(self, channel: Channel, frame: bytes | str) -> say.ClientMessage:
        """Return what *frame* says; raises ``WireError``."""
        if isinstance(frame, str):
            raise WireError("text from a client that speaks protobuf")
        is_data = channel is Channel.DATA
        envelope = pb.DataClientMessage() if is_data else pb.ControlClientMessage()
        try:
            envelope.ParseFromString(frame)
        except DecodeError:
            raise WireError("not a protobuf message of its channel") from None
        if len(envelope.request_id) > MAX_REQUEST_ID_CHARS:
            raise WireError("the request id is too long")
        kind = envelope.WhichOneof("payload")
        if kind == "command":
            return _command(envelope.request_id, envelope.command, len(frame))
        read = _READERS.get(kind)
        return say.Unknown(what=kind or "") if read is None else read(envelope)

    def encode(self, message: say.ServerMessage) -> Encoded | None:
        """Return *message* as a frame, ``None`` where v1 has no form for it."""
        write = _WRITERS.get(type(message))
        if write is None:
            return None
        try:
            channel, envelope = write(message)
            return Encoded(channel, envelope.SerializeToString())
        except (TypeError, ValueError, EncodeError, RecursionError) as error:
            # half a character, a number out of range, nested too deeply
            raise WireError(f"cannot be sent: {type(error).__name__}") from error


# --- from clients ------------------------------------------------------------------------------


def _command(request_id: str, command: Any, size_bytes: int) -> say.Command:
    uploads = command.uploads
    return say.Command(
        request_id=request_id,
        name=command.type,
        arguments={key: _value(value) for key, value in command.data.fields.items()},
        uploads={key: _reference(each) for key, each in uploads.items()} if uploads else {},
        size_bytes=size_bytes,
    )


def _reference(found: Any) -> say.UploadReference:
    return say.UploadReference(
        upload_id=found.upload_id, name=found.name, mime_type=found.mime_type, size=found.size
    )


def _value(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _value(each) for key, each in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_value(each) for each in value.list_value.values]
    return None if kind is None or kind == "null_value" else getattr(value, kind)


_READERS: dict[str | None, Callable[[Any], say.ClientMessage]] = {
    "request_step": lambda e: say.StepRequest(request_id=e.request_id),
    "ping": lambda e: say.Ping(),
    "request_schema": lambda e: say.SchemaRequest(request_id=e.request_id),
    "file_uploaded": lambda e: say.FileUploaded(file=_reference(e.file_uploaded)),
    "request_clip": lambda e: say.ClipRequest(
        request_id=e.request_id, duration_s=e.request_clip.duration_seconds
    ),
    "request_recording": lambda e: say.ClipRequest(request_id=e.request_id),
    "publish_track": lambda e: say.PublishTrack(
        request_id=e.request_id, track=e.publish_track.name
    ),
    "pause_track": lambda e: say.PauseTrack(track=e.pause_track.name),
    "resume_track": lambda e: say.ResumeTrack(track=e.resume_track.name),
    "unpublish_track": lambda e: say.UnpublishTrack(track=e.unpublish_track.name),
}


# --- to clients --------------------------------------------------------------------------------


def _kind(request_id: str) -> int:
    return _RESPONSE if request_id else _NOTIFICATION


def _on_data(request_id: str) -> Any:
    return pb.DataServerMessage(request_id=request_id, kind=_kind(request_id))


def _on_control(request_id: str) -> Any:
    return pb.ControlServerMessage(request_id=request_id, kind=_kind(request_id))


def _write_message(message: say.Message) -> tuple[Channel, Any]:
    envelope = _on_data(message.request_id)
    envelope.message.type = message.name
    _fill(envelope.message.data, message.body)
    return Channel.DATA, envelope


def _write_acknowledgement(message: say.Acknowledgement) -> tuple[Channel, Any]:
    return Channel.DATA, pb.DataServerMessage(request_id=message.request_id, kind=_RESPONSE)


def _write_failure(message: say.Failure) -> tuple[Channel, Any]:
    envelope = _on_data(message.request_id)
    envelope.error.code, envelope.error.message = message.code, message.message
    return Channel.DATA, envelope


def _write_control_failure(message: say.ControlFailure) -> tuple[Channel, Any]:
    envelope = _on_control(message.request_id)
    envelope.error.code, envelope.error.message = message.code, message.message
    return Channel.CONTROL, envelope


def _write_schema(message: say.Schema) -> tuple[Channel, Any]:
    envelope = _on_control(message.request_id)
    _fill(envelope.model_schema.openapi, message.document)
    return Channel.CONTROL, envelope


def _write_clip_ready(message: say.ClipReady) -> tuple[Channel, Any]:
    envelope = _on_control(message.request_id)
    clip = envelope.clip_ready
    clip.session_id, clip.kind = message.recording_id, message.kind
    clip.start_marker, clip.end_marker = message.start_marker, message.end_marker
    clip.now_marker = message.now_marker
    clip.predicted_ready_at_ms = message.predicted_ready_at_ms
    clip.playlist_url = message.playlist_url
    return Channel.CONTROL, envelope


def _write_clip_failed(message: say.ClipFailed) -> tuple[Channel, Any]:
    envelope = _on_control(message.request_id)
    envelope.clip_failed.reason = message.reason
    return Channel.CONTROL, envelope


def _write_publish_granted(message: say.PublishGranted) -> tuple[Channel, Any]:
    envelope = _on_control(message.request_id)
    envelope.publish_track.SetInParent()
    return Channel.CONTROL, envelope


def _write_moderation(message: say.Moderation) -> tuple[Channel, Any]:
    envelope = _on_control("")
    notice = envelope.moderation
    notice.action, notice.input_kind = message.action, message.input_kind
    notice.command, notice.message = message.command, message.message
    notice.categories.extend(message.categories)
    return Channel.CONTROL, envelope


def _write_session_ended(message: say.SessionEnded) -> tuple[Channel, Any]:
    envelope = _on_control("")
    envelope.session_ended.reason = message.reason
    return Channel.CONTROL, envelope


_WRITERS: dict[type, Callable[[Any], tuple[Channel, Any]]] = {
    say.Message: _write_message,
    say.Acknowledgement: _write_acknowledgement,
    say.Failure: _write_failure,
    say.ControlFailure: _write_control_failure,
    say.Schema: _write_schema,
    say.ClipReady: _write_clip_ready,
    say.ClipFailed: _write_clip_failed,
    say.PublishGranted: _write_publish_granted,
    say.Moderation: _write_moderation,
    say.SessionEnded: _write_session_ended,
}


def _fill(struct: Any, content: Mapping[str, Any]) -> None:
    struct.SetInParent()  # an empty object is an object all the same
    for key, value in content.items():
        _set(struct.fields[str(key)], value)


def _set(slot: Any, value: Any) -> None:
    if value is None:
        slot.null_value = 0
    elif isinstance(value, bool):
        slot.bool_value = value
    elif isinstance(value, str):
        slot.string_value = value
    elif isinstance(value, int | float):
        _set_number(slot, value)
    elif isinstance(value, Mapping):
        _fill(slot.struct_value, value)
    elif isinstance(value, list | tuple):
        slot.list_value.SetInParent()
        for each in value:
            _set(slot.list_value.values.add(), each)
    else:
        raise WireError(f"a {type(value).__name__} has no form on the wire")


def _set_number(slot: Any, value: float) -> None:
    number = _double(value)
    if math.isfinite(number):
        slot.number_value = number
    else:
        slot.null_value = 0


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int past every double
        return math.inf
