"""Serve a real-time generative model over WebRTC: one class, one device or many.

Everything an author imports. Each name is loaded when it is first used, so that importing the
package costs nothing and each part of it costs what it needs.
"""

from typing import TYPE_CHECKING

from reactor_runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from reactor_runtime.errors import ApplicationError, BufferClosed, CommandError
    from reactor_runtime.log import get_logger
    from reactor_runtime.model.client_info import ClientInfo
    from reactor_runtime.model.command import Command
    from reactor_runtime.model.events import (
        connected,
        disconnected,
        event,
        file_uploaded,
        session_ended,
        session_started,
    )
    from reactor_runtime.model.idle import Idle
    from reactor_runtime.model.input_buffer import InputBuffer, InputFrame, ReadMode
    from reactor_runtime.model.input_field import FieldInfo, InputField
    from reactor_runtime.model.input_state import InputState
    from reactor_runtime.model.media_input import Input, MediaInput
    from reactor_runtime.model.messages import MessageField, ModelMessage
    from reactor_runtime.model.output import Output, Shard, TrackPayload
    from reactor_runtime.model.output_stream import OutputStream
    from reactor_runtime.model.pipeline import ReactorPipeline
    from reactor_runtime.model.reactor_model import ReactorApp, ReactorModel
    from reactor_runtime.model.step import StepCompleted, StepOutcome
    from reactor_runtime.model.tracks import Audio, Metadata, Track, Video
    from reactor_runtime.model.uploaded_file import UploadedFile
    from reactor_runtime.paths import get_weights_path

__version__ = "0.1.0"

__all__ = [
    "ApplicationError",
    "Audio",
    "BufferClosed",
    "ClientInfo",
    "Command",
    "CommandError",
    "FieldInfo",
    "Idle",
    "Input",
    "InputBuffer",
    "InputField",
    "InputFrame",
    "InputState",
    "MediaInput",
    "MessageField",
    "Metadata",
    "ModelMessage",
    "Output",
    "OutputStream",
    "ReactorApp",
    "ReactorModel",
    "ReactorPipeline",
    "ReadMode",
    "Shard",
    "StepCompleted",
    "StepOutcome",
    "Track",
    "TrackPayload",
    "UploadedFile",
    "Video",
    "__version__",
    "connected",
    "disconnected",
    "event",
    "file_uploaded",
    "get_logger",
    "get_weights_path",
    "session_ended",
    "session_started",
]

_HOMES = {
    "ApplicationError": "reactor_runtime.errors",
    "BufferClosed": "reactor_runtime.errors",
    "CommandError": "reactor_runtime.errors",
    "get_logger": "reactor_runtime.log",
    "ClientInfo": "reactor_runtime.model.client_info",
    "Command": "reactor_runtime.model.command",
    "connected": "reactor_runtime.model.events",
    "disconnected": "reactor_runtime.model.events",
    "event": "reactor_runtime.model.events",
    "file_uploaded": "reactor_runtime.model.events",
    "session_ended": "reactor_runtime.model.events",
    "session_started": "reactor_runtime.model.events",
    "Idle": "reactor_runtime.model.idle",
    "InputBuffer": "reactor_runtime.model.input_buffer",
    "InputFrame": "reactor_runtime.model.input_buffer",
    "ReadMode": "reactor_runtime.model.input_buffer",
    "FieldInfo": "reactor_runtime.model.input_field",
    "InputField": "reactor_runtime.model.input_field",
    "InputState": "reactor_runtime.model.input_state",
    "Input": "reactor_runtime.model.media_input",
    "MediaInput": "reactor_runtime.model.media_input",
    "MessageField": "reactor_runtime.model.messages",
    "ModelMessage": "reactor_runtime.model.messages",
    "Output": "reactor_runtime.model.output",
    "Shard": "reactor_runtime.model.output",
    "TrackPayload": "reactor_runtime.model.output",
    "OutputStream": "reactor_runtime.model.output_stream",
    "ReactorPipeline": "reactor_runtime.model.pipeline",
    "ReactorApp": "reactor_runtime.model.reactor_model",
    "ReactorModel": "reactor_runtime.model.reactor_model",
    "StepCompleted": "reactor_runtime.model.step",
    "StepOutcome": "reactor_runtime.model.step",
    "Audio": "reactor_runtime.model.tracks",
    "Metadata": "reactor_runtime.model.tracks",
    "Track": "reactor_runtime.model.tracks",
    "Video": "reactor_runtime.model.tracks",
    "UploadedFile": "reactor_runtime.model.uploaded_file",
    "get_weights_path": "reactor_runtime.paths",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
