"""The v0 wire: JSON text.

Everything but the publish grant travels on ``data`` as ``{"scope", "data": {"type", "data"}}``.
Commands are not correlated: v0 has no acknowledgement and no error.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from reactor_runtime.errors import WireError
from reactor_runtime.wire import messages as say
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.codec import MAX_REQUEST_ID_CHARS, Encoded, WireVersion

_MAX_DEPTH = 64


class JsonCodec:
    """Implements ``Codec`` for v0. Stateless."""

    version = WireVersion.V0

    def decode(self, channel: Channel, frame: bytes | str) -> say.ClientMessage:
        """Return what *frame* says; raises ``WireError``."""
        found = _object(_parse(frame), "the frame")
        if "scope" in found:
            return _read_scoped(found, len(frame))
        if channel is Channel.CONTROL:
            return _read_control(found)
        raise WireError("a frame without scope")

    def encode(self, message: say.ServerMessage) -> Encoded | None:
        """Return *message* as a frame, ``None`` where v0 has no form for it."""
        write = _WRITERS.get(type(message))
        written = None if write is None else write(message)
        if written is None:
            return None
        channel, content = written
        return Encoded(channel, _render(content))


# --- from clients ------------------------------------------------------------------------------


def _parse(frame: bytes | str) -> Any:
    try:
        text = frame if isinstance(frame, str) else frame.decode()
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError("not JSON") from None
    if text.count("{") + text.count("[") > _MAX_DEPTH and not _is_flat(found, _MAX_DEPTH):
        raise WireError("nested too deeply")
    if "\\ud" in text or "\\uD" in text:
        _check_surrogates(found)
    return found


def _is_flat(value: Any, depth: int) -> bool:
    if depth < 0:
        return False
    if isinstance(value, dict):
        return all(_is_flat(each, depth - 1) for each in value.values())
    if isinstance(value, list):
        return all(_is_flat(each, depth - 1) for each in value)
    return True


def _check_surrogates(found: Any) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise WireError("half a character") from None


def _object(found: Any, what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise WireError(f"{what} is not an object")
    return found


def _text(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str):
        raise WireError(f"{key} is not text")
    return value


def _read_scoped(frame: Mapping[str, Any], size_bytes: int) -> say.ClientMessage:
    envelope = _object(frame.get("data"), "data")
    kind = _text(envelope, "type")
    content = envelope.get("data")
    content = {} if content is None else _object(content, "data.data")
    if frame["scope"] == "application":
        uploads = envelope.get("uploads")
        return say.Command(
            name=kind,
            arguments=content,
            uploads={} if uploads is None else _references(uploads),
            size_bytes=size_bytes,
        )
    read = _READERS.get(kind) if frame["scope"] == "runtime" else None
    return say.Unknown(what=kind) if read is None else read(content)


def _references(found: Any) -> dict[str, say.UploadReference]:
    return {
        key: _reference(_object(each, "an upload"))
        for key, each in _object(found, "uploads").items()
    }


def _reference(found: Mapping[str, Any]) -> say.UploadReference:
    size = found.get("size", 0)
    if isinstance(size, float) and size.is_integer():
        size = int(size)
    if isinstance(size, bool) or not isinstance(size, int):
        raise WireError("size is not a whole number")
    return say.UploadReference(
        upload_id=_text(found, "upload_id"),
        name=_text(found, "name"),
        mime_type=_text(found, "mime_type"),
        size=size,
    )


def _read_clip(content: Mapping[str, Any]) -> say.ClientMessage:
    duration = content.get("duration_seconds", 0)
    if isinstance(duration, bool) or not isinstance(duration, int | float):
        raise WireError("duration_seconds is not a number")
    try:
        return say.ClipRequest(duration_s=float(duration))
    except OverflowError:
        raise WireError("duration_seconds is out of range") from None


_READERS: dict[str, Callable[[Mapping[str, Any]], say.ClientMessage]] = {
    "ping": lambda content: say.Ping(),
    "requestSchema": lambda content: say.SchemaRequest(),
    "requestCapabilities": lambda content: say.CapabilitiesRequest(),
    "requestRecording": lambda content: say.ClipRequest(),
    "requestClip": _read_clip,
    "fileUploaded": lambda content: say.FileUploaded(file=_reference(content)),
}


def _read_control(frame: Mapping[str, Any]) -> say.ClientMessage:
    kind = frame.get("type")
    if kind == "notification":
        return _read_notification(frame)
    if kind != "request":
        raise WireError("neither a request nor a notification")
    method = _text(frame, "method")
    if method != "publish_track":
        return say.Unknown(what=method)
    request_id = _text(frame, "request_id")
    if len(request_id) > MAX_REQUEST_ID_CHARS:
        raise WireError("the request id is too long")
    return say.PublishTrack(request_id=request_id, track=_track(frame))


def _read_notification(frame: Mapping[str, Any]) -> say.ClientMessage:
    event = _text(frame, "event")
    if event == "resume_track":
        return say.ResumeTrack(track=_track(frame))
    if event == "pause_track":
        return say.PauseTrack(track=_track(frame))
    if event == "unpublish_track":
        return say.UnpublishTrack(track=_track(frame))
    return say.Unknown(what=event)


def _track(frame: Mapping[str, Any]) -> str:
    return _text(_object(frame.get("data"), "data"), "name")


# --- to clients --------------------------------------------------------------------------------

Written = tuple[Channel, dict[str, Any]]


def _scoped(scope: str, kind: str, content: Mapping[str, Any]) -> Written:
    return Channel.DATA, {"scope": scope, "data": {"type": kind, "data": content}}


def _runtime(type_name: str, **content: Any) -> Written:
    return _scoped("runtime", type_name, content)


def _publish_response(request_id: str, **outcome: Any) -> Written | None:
    if not request_id:
        return None
    head = {"type": "response", "method": "publish_track", "request_id": request_id}
    return Channel.CONTROL, {**head, **outcome}


def _write_clip_ready(message: say.ClipReady) -> Written:
    return _runtime("clipReady", **message.fields)


def _write_moderation(message: say.Moderation) -> Written:
    return _runtime(
        "moderation",
        action=message.action,
        input_kind=message.input_kind,
        command=message.command,
        categories=list(message.categories),
        message=message.message,
    )


_WRITERS: dict[type, Callable[[Any], Written | None]] = {
    say.Message: lambda m: _scoped("application", m.name, m.body),
    say.Schema: lambda m: _scoped("runtime", "modelSchema", m.document),
    say.Capabilities: lambda m: _runtime("modelCapabilities", commands=list(m.commands)),
    say.ClipReady: _write_clip_ready,
    say.ClipFailed: lambda m: _runtime("clipFailed", reason=m.reason),
    say.PublishGranted: lambda m: _publish_response(m.request_id, data={}),
    say.ControlFailure: lambda m: _publish_response(
        m.request_id, error={"code": m.code, "message": m.message}
    ),
    say.Moderation: _write_moderation,
    say.SessionEnded: lambda m: _runtime("sessionEnded", reason=m.reason),
}


def _render(content: Mapping[str, Any]) -> str:
    try:
        return json.dumps(content, allow_nan=False, separators=(",", ":"))
    except ValueError:  # not a finite number, or a circle
        pass
    except TypeError as error:
        raise WireError("a value has no form on the wire") from error
    try:
        return json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError("a value has no form on the wire") from error


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
