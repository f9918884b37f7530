"""Clip: a run of segments as one file, and the playlist by which clients fetch it in parts.

    head and index │ segment │ segment │ …

The parts fetched by the playlist and put together are the same file, byte for byte. Its times begin
at zero: players would otherwise wait for its beginning, or take its end for its length.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reactor_runtime.recording.mp4_boxes import make_index, read_head, shifted
from reactor_runtime.recording.recording import Recording, Segment
from reactor_runtime.recording.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What there is of a recording between two moments: whole segments, one at least.

    Attributes:
        recording: Of which session.
        segments: In their order.
    """

    recording: Recording
    segments: Sequence[Segment]

    @property
    def start_s(self) -> float:
        """Recorded seconds at which it begins."""
        return self.segments[0].start_s

    @property
    def duration_s(self) -> float:
        """How long it lasts."""
        return self.segments[-1].end_s - self.start_s

    @property
    def etag(self) -> str:
        """Names its file, byte for byte, as an HTTP entity tag: segments never change."""
        first, last = self.segments[0].number, self.segments[-1].number
        return f'"{self.recording.id[:8]}-{first}-{last}"'

    def head(self) -> bytes:
        """Return what its file begins with: the tracks, and an index to seek by."""
        head = self.recording.head
        lengths = [(each.film_bytes, _lasts(each, then)) for each, then in self._with_next()]
        return head + make_index(read_head(head)[0], lengths)

    def part(self, shelf: Shelf, segment: Segment) -> bytes:
        """Return the part of its file that is *segment*; reads from disk.

        Raises:
            OSError: It is gone.
        """
        return part(shelf, self.recording, segment, self.start_s)

    def notes(self, shelf: Shelf) -> list[dict[str, Any]]:
        """Return its metadata: ``time`` in seconds of its file, ``track`` and ``value``.

        Raises:
            OSError: Some of it is gone.
        """
        written = [shelf.notes(self.recording, each) for each in self.segments]
        notes = [note for text in written if text for note in json.loads(text)]
        return [{**note, "time": round(max(note["time"] - self.start_s, 0), 6)} for note in notes]

    def playlist(self) -> str:
        """Return it as an HLS playlist of fragmented MP4."""
        chunks = f"/clips/chunks/{self.recording.id}"
        span = f"first={self.segments[0].number}&last={self.segments[-1].number}"
        lengths = [_lasts(each, then) for each, then in self._with_next()]
        lines = [
            "#EXTM3U",
            "#EXT-X-VERSION:7",
            f"#EXT-X-TARGETDURATION:{math.ceil(max(lengths))}",
            "#EXT-X-PLAYLIST-TYPE:VOD",
            f'#EXT-X-MAP:URI="{chunks}/init.mp4?{span}"',
        ]
        for segment, length_s in zip(self.segments, lengths, strict=True):
            name = f"chunk_{segment.number:05d}.m4s"
            lines += [f"#EXTINF:{length_s:.3f},", f"{chunks}/{name}?{span}"]
        return "\n".join([*lines, "#EXT-X-ENDLIST", ""])

    def _with_next(self) -> list[tuple[Segment, Segment | None]]:
        return list(zip(self.segments, [*self.segments[1:], None], strict=True))


def part(shelf: Shelf, recording: Recording, segment: Segment, start_s: float) -> bytes:
    """Return *segment* as a part of a clip that begins at *start_s*; reads from disk.

    Raises:
        OSError: It is gone.
    """
    return shifted(shelf.film(recording, segment), read_head(recording.head), start_s)


def _lasts(segment: Segment, then: Segment | None) -> float:
    """Return how long *segment* is shown: up to the next one, where some between them are lost."""
    return (segment.end_s if then is None else then.start_s) - segment.start_s
