"""What a host is told, in one order: frozen events, each stamped once by the session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reactor_runtime.model.uploaded_file import UploadedFile

MAX_MESSAGE_BYTES = 262_144  # the wire's own limit


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """A session begins: state is built, RNGs are seeded, ``session_started`` runs.

    Attributes:
        session_id: Its id.
        seed: What random generators are seeded with.
        steps: How many steps it is to have; ``None`` for as many as come.
    """

    session_id: str
    seed: int
    steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The session ends: ``session_ended`` runs, state goes away, unanswered calls are answered."""

    session_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientJoined:
    """A client is open on every channel it needs.

    Attributes:
        client_id: Its id.
        joined_at: Epoch seconds.
        max_message_bytes: The largest frame it takes.
    """

    client_id: str
    joined_at: float
    max_message_bytes: int = MAX_MESSAGE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLeft:
    """A client is gone."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCalled:
    """A client calls a command; *arguments* are already normalised and validated.

    Exactly one ``CommandReply`` with this *call_id* reaches the outlet, unless it was withdrawn.
    """

    call_id: int
    client_id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileArrived:
    """A client's upload is complete: ``file_uploaded`` runs."""

    client_id: str
    file: UploadedFile


_NAMES: dict[type[Any], str] = {
    SessionStarted: "the start of the session",
    SessionEnded: "the end of the session",
    ClientJoined: "the joining of a client",
    ClientLeft: "the leaving of a client",
    FileArrived: "the arrival of a file",
}


def name_of(event: "ModelEvent") -> str:
    """Return what errors call *event*: a command by its name."""
    return f"command {event.name!r}" if isinstance(event, CommandCalled) else _NAMES[type(event)]


ModelEvent = SessionStarted | SessionEnded | ClientJoined | ClientLeft | CommandCalled | FileArrived
