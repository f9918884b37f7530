"""Where an adapter runs: under the test kit or behind a real server, with the same clients.

A scenario speaks to a ``Client`` and cannot tell which it has, nor how many ranks there are.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from reactor_runtime import UploadedFile
from reactor_runtime.testing import Message

TOLERANCE = 4  # what encoding does to a grey picture


class Client(Protocol):
    """One viewer. Every wait has a deadline."""

    def send(self, command: str, /, **arguments: Any) -> Message | None:
        """Call a command; returns the answer, ``None`` for an acknowledgement."""
        ...

    def hear(self, name: str) -> dict[str, Any]:
        """Return the body of the next message of that name."""
        ...

    def see(self, *greys: int, track: str = "main_video") -> None:
        """Wait until pictures of these greys have come, in this order; others may lie between."""
        ...

    def listen(self, track: str, samples: int) -> Sequence[int]:
        """Return so many samples of a sound track, silence before it begins left out."""
        ...

    def show(self, **greys: int) -> None:
        """Send each input track a picture of that grey, now and, over a network, from now on."""
        ...

    def speak(self, track: str, seconds: float) -> None:
        """Send a tone of that length."""
        ...

    def upload(self, file: UploadedFile) -> None:
        """Send a file and say so."""
        ...

    def error(self) -> str:
        """Wait for the failure of the session and return its text."""
        ...

    def leave(self) -> None:
        """Disconnect."""
        ...


class Stage(Protocol):
    """An adapter that runs."""

    ranks: int

    def connect(self) -> Client:
        """Let a client in; the first one starts a session."""
        ...

    def end_session(self) -> None:
        """End the session; returns when the model is ready for another."""
        ...

    def logged(self, words: str) -> str:
        """Wait until *words* are in the log, and return it."""
        ...
