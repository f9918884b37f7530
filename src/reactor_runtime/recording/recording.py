"""Recording: what is kept of one session."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from reactor_runtime.recording.recorded_time import RecordedTime

_ID = re.compile(r"[0-9a-f]{32}")
_SPARED = 10  # one segment in so many
_NEAR_S = 0.001  # markers travel in milliseconds


def is_recording_id(text: str) -> bool:
    """Whether *text* looks like a recording's id, which is a secret; names given are none."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of a recording that can be played on its own, in one file.

    Attributes:
        number: Counts them from 0.
        start_s: Recorded seconds at which it begins.
        end_s: Recorded seconds at which it ends.
        film_bytes: The size of its pictures and sound.
        notes_bytes: The size of its metadata, 0 for none.
    """

    number: int
    start_s: float
    end_s: float
    film_bytes: int
    notes_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        """What it takes on disk."""
        return self.film_bytes + self.notes_bytes


class Recording:
    """Segments that follow each other, some of them perhaps lost. Written by one thread.

    Attributes:
        id: 128 random bits: whoever knows it may have the recording.
        time: Its seconds.
        head: What every clip's file begins with; empty until something is recorded.
        segments: Those that are still there, in their order.
        closed_until_s: Recorded seconds up to which nothing will be added.
        ended_at: Monotonic seconds at which it was complete, ``None`` before.
        is_broken: The encoder failed over and over: nothing more will be recorded.
        lost_reason: Why its newest segment could not be kept, empty when it was.
    """

    def __init__(self) -> None:
        self.id = secrets.token_hex(16)
        self.time = RecordedTime()
        self.head = b""
        self.segments: tuple[Segment, ...] = ()
        self.closed_until_s = 0.0
        self.ended_at: float | None = None
        self.is_broken = False
        self.lost_reason = ""
        self._starts: list[float] = []

    @property
    def offered(self) -> Sequence[Segment]:
        """The segments that clips are made of.

        Once its beginning has gone the oldest seconds are not offered any more: they may go while
        somebody fetches them.
        """
        if not self.segments or self.segments[0].number == 0:
            return self.segments
        spared = max(1, len(self.segments) // _SPARED)
        return self.segments[min(spared, len(self.segments) - 1) :]

    def next_number(self) -> int:
        """Return the number of the segment that comes next."""
        return len(self._starts)

    def add(self, segment: Segment) -> None:
        """Append a segment that has been stored."""
        self._starts.append(segment.start_s)
        self.segments = (*self.segments, segment)
        self.closed_until_s = segment.end_s
        self.lost_reason = ""

    def lose(self, until_s: float, reason: str) -> None:
        """Note that there is nothing up to *until_s*."""
        self.closed_until_s = max(self.closed_until_s, until_s)
        self.lost_reason = reason

    def drop_first(self) -> Segment:
        """Forget the oldest segment and return it."""
        first, *rest = self.segments
        self.segments = tuple(rest)
        return first

    def start_of(self, number: int) -> float | None:
        """Return where a segment began, be it dropped by now; ``None`` if there never was one."""
        return self._starts[number] if 0 <= number < len(self._starts) else None

    def segment(self, number: int) -> Segment | None:
        """Return a segment by its number, ``None`` if it is not there."""
        return next((each for each in self.segments if each.number == number), None)

    def between(self, start_s: float, end_s: float) -> Sequence[Segment]:
        """Return the offered segments that hold anything from *start_s* to *end_s*."""
        return [
            each
            for each in self.offered
            if each.end_s > start_s + _NEAR_S and each.start_s < end_s - _NEAR_S
        ]

    def is_closed_until(self, when_s: float) -> bool:
        """Whether what was recorded up to *when_s* can be had, as far as it ever will."""
        return self.ended_at is not None or self.closed_until_s >= when_s - _NEAR_S
