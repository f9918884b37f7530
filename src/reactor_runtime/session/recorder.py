"""Recorder: what a session tells whoever records it, and asks of it."""

from typing import Protocol

from reactor_runtime.session.session_state import SessionState
from reactor_runtime.wire.messages import ClipReady

# The public clients know these reasons by their words.
DISABLED = "recorder disabled or encoder crashed"
NOTHING_YET = "no media generated yet"


class Recorder(Protocol):
    """Records the session it follows. Called on the event loop; never blocks."""

    @property
    def chunk_s(self) -> float:
        """Seconds of one segment."""
        ...

    def follow(self, state: SessionState) -> None:
        """Begin, go on, rest or end: the session is in *state* now."""
        ...

    def name(self, given: str) -> None:
        """Let what is recorded of this session be found by the name its starter has *given*."""
        ...

    def clip(self, duration_s: float | None) -> ClipReady:
        """Promise the last *duration_s* seconds, or (``None``) everything so far.

        Raises:
            ClipRefusedError: There is none; it says why.
        """
        ...
