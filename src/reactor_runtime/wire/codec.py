"""Codec: between frames and messages, one per wire version; and which version a frame is of."""

import json
from enum import StrEnum
from typing import NamedTuple, Protocol

from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.messages import ClientMessage, ServerMessage

_BLANK = b" \t\r\n"
MAX_REQUEST_ID_CHARS = 256


class WireVersion(StrEnum):
    """How a client speaks, for its connection's whole life."""

    V0 = "v0"
    V1 = "v1"


class Encoded(NamedTuple):
    """One frame and the channel it belongs on."""

    channel: Channel
    frame: bytes | str


class Codec(Protocol):
    """Pure functions between frames and messages of one wire version."""

    @property
    def version(self) -> WireVersion:
        """The version it speaks."""
        ...

    def decode(self, channel: Channel, frame: bytes | str) -> ClientMessage:
        """Return what *frame* says.

        Raises:
            WireError: It is no frame of this version.
        """
        ...

    def encode(self, message: ServerMessage) -> Encoded | None:
        """Return *message* as a frame, ``None`` where this version has no form for it.

        Numbers that are not finite become null: neither version's clients can read them.

        Raises:
            WireError: The message holds what cannot travel.
        """
        ...


def version_of(frame: bytes | str) -> WireVersion:
    """Return the version a client speaks that begins with *frame*.

    Text is v0, and so are bytes that begin with ``{`` or ``[`` after blanks; all else is v1.
    """
    if isinstance(frame, str):
        return WireVersion.V0
    if frame.lstrip(_BLANK)[:1] not in (b"{", b"["):
        return WireVersion.V1
    if frame[:1] != b"\n":
        return WireVersion.V0
    # A line feed is also how a protobuf frame with a request id begins, and the id's length may
    # look like a bracket: only what is JSON to its end counts as JSON.
    try:
        json.loads(frame)
    except (ValueError, RecursionError):
        return WireVersion.V1
    return WireVersion.V0
