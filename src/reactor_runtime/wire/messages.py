"""What clients and the runtime say to each other, whatever the wire version.

A codec turns frames into client messages and server messages into frames. ``request_id`` is empty
where no answer is expected, or where a message answers nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# --- from clients ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadReference:
    """Names a file that a client uploads beside the channels."""

    upload_id: str
    name: str
    mime_type: str
    size: int  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Calls a command.

    Attributes:
        request_id: What the answer carries.
        name: The command's wire name.
        arguments: As they came; numbers may be doubles.
        uploads: Argument name to file, beside *arguments*.
        size_bytes: Size of the frame it came in.
    """

    request_id: str = ""
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    uploads: Mapping[str, UploadReference] = field(default_factory=dict)
    size_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """Asks for one step of a stepped session."""

    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRequest:
    """Asks for the model's OpenAPI document."""

    request_id: str = ""


@dataclass(frozen=True, slots=True)
class CapabilitiesRequest:
    """Asks for the list of commands in the older form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUploaded:
    """Tells that the bytes of a file have been uploaded."""

    file: UploadReference


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRequest:
    """Asks for a recording: of the last *duration_s* seconds, or (``None``) of everything."""

    request_id: str = ""
    duration_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishTrack:
    """Asks to be the one who feeds an input track."""

    request_id: str = ""
    track: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpublishTrack:
    """Gives an input track back."""

    track: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTrack:
    """Wants an output track no more."""

    track: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTrack:
    """Wants an output track."""

    track: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Well formed, but nothing this version knows; to be ignored."""

    what: str = ""


ClientMessage = (
    Command
    | StepRequest
    | Ping
    | SchemaRequest
    | CapabilitiesRequest
    | FileUploaded
    | ClipRequest
    | PublishTrack
    | UnpublishTrack
    | PauseTrack
    | ResumeTrack
    | Unknown
)

# --- to clients --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an author sent: an answer when it has a *request_id*, else for whoever gets it."""

    request_id: str = ""
    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """A command ran and returned nothing."""

    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A command was refused or failed; without *request_id* the session did."""

    request_id: str = ""
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFailure:
    """A request on the control channel was refused."""

    request_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The model's OpenAPI document."""

    request_id: str = ""
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The list of commands in the older form."""

    commands: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipReady:
    """A recording can be fetched soon; markers are seconds of recorded media time."""

    request_id: str = ""
    recording_id: str
    kind: str
    start_marker: float
    end_marker: float
    now_marker: float
    predicted_ready_at_ms: int
    playlist_url: str

    @property
    def fields(self) -> dict[str, str | float | int]:
        """What it says, by the names that clients and operators read."""
        return {
            "session_id": self.recording_id,
            "kind": self.kind,
            "start_marker": self.start_marker,
            "end_marker": self.end_marker,
            "now_marker": self.now_marker,
            "predicted_ready_at_ms": self.predicted_ready_at_ms,
            "playlist_url": self.playlist_url,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFailed:
    """There will be no recording."""

    request_id: str = ""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishGranted:
    """The client feeds the track from now on."""

    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moderation:
    """Something a client did was moderated; *action* is ``terminate`` or ``warn``."""

    action: str = "terminate"
    input_kind: str = ""
    command: str = ""
    categories: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The session ends now."""

    reason: str


ServerMessage = (
    Message
    | Acknowledgement
    | Failure
    | ControlFailure
    | Schema
    | Capabilities
    | ClipReady
    | ClipFailed
    | PublishGranted
    | Moderation
    | SessionEnded
)
