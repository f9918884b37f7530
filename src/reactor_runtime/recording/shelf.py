"""Shelf: the recordings of one process, kept for a bounded time and within a bounded size.

Nobody is told of a segment before it is whole.
"""

import errno
import math
import os
import shutil
import threading

from reactor_runtime.clock import Clock
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording import Recording, Segment, is_recording_id
from reactor_runtime.recording.segment_files import SegmentFiles
from reactor_runtime.scratch_folder import ScratchFolder

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Shelf:
    """Stores segments and forgets them again. For any thread; storing is for one.

    Args:
        folder: Where they lie; open.
        max_bytes: Bytes of all of them; past it the oldest segment goes.
        min_free_bytes: Bytes that they leave free on the disk.
        keep_s: Seconds a recording stays after it has ended.
        clock: The time.
        metrics: Where the size is shown.
    """

    def __init__(
        self,
        folder: ScratchFolder,
        *,
        max_bytes: int,
        min_free_bytes: int = 0,
        keep_s: float,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._files, self._clock = SegmentFiles(folder), clock
        self._max_bytes, self._min_free_bytes = max_bytes, min_free_bytes
        self._keep_s = keep_s
        self._size = metrics.recording_bytes
        self._lock = threading.Lock()  # never held while a disk works
        self._recordings: dict[str, Recording] = {}  # the oldest first
        self._names: dict[str, str] = {}  # given by whoever started the session: to its id

    def begin(self) -> Recording:
        """Return a new, empty recording."""
        recording = Recording()
        with self._lock:
            self._recordings[recording.id] = recording
        return recording

    def name(self, recording: Recording, given: str) -> None:
        """Let *recording* be found by the name *given*, too, unless that looks like an id."""
        if not is_recording_id(given):
            with self._lock:
                self._names[given] = recording.id

    def find(self, named: str) -> Recording | None:
        """Return the recording of that id or name, ``None`` if there is none, or none any more."""
        recording = self._recordings.get(self._names.get(named, named))
        is_over = recording is not None and self._due(recording) <= self._clock.now()
        return None if is_over else recording

    def store(
        self, recording: Recording, span: tuple[float, float], film: bytes, notes: bytes
    ) -> Segment:
        """Keep the next segment of *recording*; where there is no room for it, the oldest go.

        Args:
            recording: Whose.
            span: Recorded seconds at which it begins and ends.
            film: Its pictures and sound.
            notes: Its metadata, empty for none.

        Raises:
            OSError: It cannot be kept; nothing of it is left.
        """
        segment = Segment(
            number=recording.next_number(),
            start_s=span[0],
            end_s=span[1],
            film_bytes=len(film),
            notes_bytes=len(notes),
        )
        if segment.size_bytes > self._max_bytes:
            raise OSError(errno.EFBIG, "a segment is larger than all recordings may be")
        while self._bytes() + segment.size_bytes > self._max_bytes and self._drop_oldest():
            pass
        while True:
            try:
                self._check_disk(segment.size_bytes)
                self._files.write(recording, segment, film, notes)
            except OSError as error:
                if error.errno not in _FULL or not self._drop_oldest():
                    raise
            else:
                break
        with self._lock:
            recording.add(segment)
        self._tell_size()
        return segment

    def end(self, recording: Recording) -> None:
        """Let the time run out for *recording*; one that holds nothing goes at once."""
        recording.ended_at = self._clock.now()
        if not recording.segments:
            self._forget(recording)

    def expire(self) -> float | None:
        """Remove what has been kept long enough; returns when the next one will have been."""
        now = self._clock.now()
        with self._lock:
            dues = {each: self._due(each) for each in self._recordings.values()}
        for recording, due in dues.items():
            if due <= now:
                self._forget(recording)
        return min((due for due in dues.values() if now < due < math.inf), default=None)

    def film(self, recording: Recording, segment: Segment) -> bytes:
        """Return the pictures and sound of a segment.

        Raises:
            OSError: It is gone.
        """
        return self._files.film(recording, segment)

    def notes(self, recording: Recording, segment: Segment) -> bytes:
        """Return the metadata of a segment, empty for none.

        Raises:
            OSError: It is gone.
        """
        return self._files.notes(recording, segment)

    def close(self) -> None:
        """Remove everything. Idempotent."""
        with self._lock:
            self._recordings.clear()
            self._names.clear()
        self._files.close()

    def _due(self, recording: Recording) -> float:
        return math.inf if recording.ended_at is None else recording.ended_at + self._keep_s

    def _drop_oldest(self) -> bool:
        with self._lock:
            oldest = next((each for each in self._recordings.values() if each.segments), None)
            first = None if oldest is None else oldest.drop_first()
        if oldest is None or first is None:
            return False
        self._files.remove(oldest, first)
        if not oldest.segments and oldest.ended_at is not None:
            self._forget(oldest)
        self._tell_size()
        return True

    def _forget(self, recording: Recording) -> None:
        with self._lock:
            if self._recordings.pop(recording.id, None) is None:
                return
            self._names = {k: v for k, v in self._names.items() if v != recording.id}
            segments, recording.segments = recording.segments, ()
        for segment in segments:
            self._files.remove(recording, segment)
        self._files.remove_folder(recording)
        self._tell_size()

    def _check_disk(self, size_bytes: int) -> None:
        """Refuse what would not fit though everything else went, and what leaves too little free.

        Raises:
            OSError: There is no room; perhaps there is when the oldest segment has gone.
        """
        free = shutil.disk_usage(self._files.path).free - self._min_free_bytes
        if size_bytes > free + self._bytes():
            raise OSError(errno.EFBIG, "there is too little room on the disk")
        if size_bytes > free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _bytes(self) -> int:
        with self._lock:
            return sum(s.size_bytes for each in self._recordings.values() for s in each.segments)

    def _tell_size(self) -> None:
        self._size.set(self._bytes())
