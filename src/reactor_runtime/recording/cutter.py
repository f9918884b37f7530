"""Cutter: fragments become segments, each until the next multiple of the chunk's length."""

import math
from dataclasses import dataclass
from operator import itemgetter

from reactor_runtime.log import get_logger
from reactor_runtime.model.json_value import NotJsonError
from reactor_runtime.recording.note import Note
from reactor_runtime.recording.take import Fragment

_NEAR_S = 1e-4  # a tick and a rounding
_MAX_NOTE_BYTES = 64 * 1024
_MAX_NOTES_BYTES = 4 << 20

log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A segment as it is stored.

    Attributes:
        start_s: Recorded seconds at which it begins.
        end_s: Recorded seconds at which it ends.
        film: Its fragments.
        notes: The metadata of what it shows as a JSON array, empty for none.
    """

    start_s: float
    end_s: float
    film: bytes
    notes: bytes


class Cutter:
    """Collects what a recording's takes give. Not for two threads at a time.

    Args:
        chunk_s: Seconds of a segment; the last one of a take may be shorter.
    """

    def __init__(self, chunk_s: float) -> None:
        self._chunk_s = chunk_s
        self._fragments: list[Fragment] = []
        self._notes: list[tuple[float, bytes]] = []
        self._has_warned = False

    def note(self, note: Note) -> None:
        """Keep what the author said.

        What has no form in JSON, or is too large, is left out with one warning.
        """
        try:
            text, reason = note.as_json(_MAX_NOTE_BYTES), ""
        except NotJsonError as error:
            text, reason = b"", error.reason
        held = sum(len(each) for _, each in self._notes)
        if not reason and held + len(text) > _MAX_NOTES_BYTES:
            reason = "comes with too much more of its kind"
        if not reason:
            self._notes.append((note.at_s, text))
        elif not self._has_warned:
            self._has_warned = True
            log.warning("metadata_not_recorded", track=note.track, reason=reason)

    def add(self, fragment: Fragment) -> Cut | None:
        """Take the next fragment; returns the segment it completes, if it does."""
        self._fragments.append(fragment)
        first = self._fragments[0].start_s
        boundary = (math.floor(first / self._chunk_s + _NEAR_S) + 1) * self._chunk_s
        return self.finish() if fragment.end_s >= boundary - _NEAR_S else None

    def finish(self) -> Cut | None:
        """Return what there is as a segment, ``None`` when there is nothing."""
        if not self._fragments:
            return None
        fragments, self._fragments = self._fragments, []
        end_s = fragments[-1].end_s
        self._notes.sort(key=itemgetter(0))  # those of sound and of pictures come as they may
        notes = [text for at_s, text in self._notes if at_s < end_s - _NEAR_S]
        self._notes = self._notes[len(notes) :]
        return Cut(
            start_s=fragments[0].start_s,
            end_s=end_s,
            film=b"".join(each.film for each in fragments),
            notes=b"[%b]" % b",".join(notes) if notes else b"",
        )

    def clear(self) -> None:
        """Forget what there is."""
        self._fragments, self._notes = [], []
