"""Footing: the rung of the ladder that one viewer gets, and the one it waits for.

    held ── move_to(rung) ──► held, another awaited ── its key frame ──► held

Until that key frame the viewer gets what it got, so that a change costs no picture.
"""

from collections.abc import Callable

from reactor_runtime.media.encoded_frame import EncodedFrame
from reactor_runtime.media.rung import Rung
from reactor_runtime.webrtc.broadcast import Broadcast, Hold

_HASTE_S = 2.0  # who comes back sooner than that, again, is in no hurry


class Footing:
    """Subscribes one viewer to one rung at a time.

    Attributes:
        rung: What it gets, or will get when it is taken.
        shown: What its last frame was of: the rung may change while it gets none.
    """

    def __init__(self, broadcast: Broadcast, sink: Callable[[EncodedFrame], None]) -> None:
        self._broadcast, self._sink = broadcast, sink
        self.rung = self.shown = Rung.TOP
        self._taken_at = float("-inf")
        self._hold: Hold | None = None
        self._awaited: tuple[Rung, Hold] | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the viewer gets frames."""
        return self._hold is not None

    def take(self, now: float) -> None:
        """Subscribe, from a key frame on: made at once, unless it was taken a moment ago."""
        before, self._taken_at = self._taken_at, now
        is_first = now - before >= _HASTE_S
        self._hold = self._broadcast.subscribe(self._sink, self.rung, urgent=is_first)

    def release(self) -> None:
        """Unsubscribe. Idempotent."""
        self._forget_awaited()
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def move_to(self, rung: Rung) -> None:
        """Change to *rung* at its next key frame, or when it is taken. Idempotent.

        On the way up the viewer has pictures, and those who are up there already are not to pay
        for it: its key frame is asked for as by a PLI.
        """
        if rung is (self._awaited[0] if self._awaited else self.rung):
            return
        self._forget_awaited()
        if self._hold is None:
            self.rung = rung
        elif rung is not self.rung:
            is_lower = rung.bitrate_share < self.rung.bitrate_share
            hold = self._broadcast.subscribe(self._sink, rung, urgent=is_lower)
            self._awaited = (rung, hold)

    def admits(self, frame: EncodedFrame) -> bool:
        """Return whether *frame* is the viewer's, and change over if it is what it waits for."""
        if self._awaited is not None and frame.rung is self._awaited[0]:
            (self.rung, hold), self._awaited = self._awaited, None
            if self._hold is not None:
                self._hold.close()
            self._hold = hold
        if frame.rung is not self.rung:
            return False
        self.shown = self.rung
        return True

    def request_key(self, urgent: bool = False) -> None:
        """Ask for a key frame of the rung it gets."""
        if self._hold is not None:
            self._hold.request_key(urgent)

    def _forget_awaited(self) -> None:
        if self._awaited is not None:
            self._awaited[1].close()
            self._awaited = None
