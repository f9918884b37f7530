"""Reel: the recording of one session while it is made.

    what was shown ─► Take (encode, mux) ─► Cutter (segments) ─► Shelf (disk)

Whatever fails here costs a stretch of the recording and no more. An encoder that raises is replaced
a second later, three times; a segment that cannot be stored is lost, and the next one is tried.
"""

import math
from collections.abc import Callable

from reactor_runtime.errors import EncoderError
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.cutter import Cut, Cutter
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.recording.take import Take
from reactor_runtime.recording.take_maker import TakeMaker
from reactor_runtime.recording.tape import PictureShown, SoundHeard

HEAD = -1  # what stands for the number of a segment where the head of the file is meant
_AGAIN_AFTER_S = 1.0
_MOST_FAILURES = 3

Kept = Callable[[str, int], None]

log = get_logger(__name__)


class Reel:
    """Encodes and stores one session. Not for two threads at a time.

    Args:
        recording: What it fills.
        shelf: Where that is kept.
        takes: Opens the encoders for a stretch.
        chunk_s: Seconds of a segment.
        metrics: Where losses are counted.
        kept: Called with the recording's id and each number that can be fetched from now on.
    """

    def __init__(
        self,
        recording: Recording,
        shelf: Shelf,
        *,
        takes: TakeMaker,
        chunk_s: float,
        metrics: Metrics,
        kept: Kept,
    ) -> None:
        self.recording = recording
        self._shelf, self._losses = shelf, metrics.recording_losses
        self._takes, self._kept = takes, kept
        self._cutter = Cutter(chunk_s)
        self._take: Take | None = None
        self._failures = 0
        self._not_before_s = 0.0

    @property
    def due_s(self) -> float:
        """Recorded seconds at which ``catch_up`` has something to do if nothing comes before."""
        return math.inf if self._take is None else self._take.still_due_s

    def add(self, item: PictureShown | SoundHeard) -> None:
        """Record a picture or a piece of sound."""
        if item.at_s >= self._not_before_s:
            self._guarded(lambda: self._add(item), item.at_s)

    def catch_up(self, now_s: float) -> None:
        """Let time pass up to *now_s*, recorded seconds, in which nothing new was shown."""
        self._guarded(lambda: self._catch_up(now_s), now_s)

    def rest(self, at_s: float) -> None:
        """End the stretch at *at_s*, recorded seconds; what comes next begins another."""
        self._guarded(lambda: self._rest(at_s), at_s)

    def end(self, at_s: float) -> None:
        """End the recording at *at_s*, recorded seconds."""
        self.rest(at_s)
        self._shelf.end(self.recording)

    def _guarded(self, work: Callable[[], None], now_s: float) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - of an encoder, which may raise anything
            self._fail(error, now_s)

    def _add(self, item: PictureShown | SoundHeard) -> None:
        if self._take is None:
            if not self._takes.may_begin_with(item):
                return
            self._take = self._open(item)
        for note in item.notes:
            self._cutter.note(note)
        if isinstance(item, SoundHeard):
            self._take.sound(item.samples, item.at_s)
        else:
            self._take.picture(item.picture, item.at_s, item.length_s)
        self._collect(self._take)

    def _catch_up(self, now_s: float) -> None:
        while self._take is not None and self._take.still_due_s <= now_s:
            self._take.repeat()
            self._collect(self._take)

    def _rest(self, at_s: float) -> None:
        take, self._take = self._take, None
        if take is not None:
            take.close(at_s)
            self._collect(take)
        self._store(self._cutter.finish())

    def _open(self, first: PictureShown | SoundHeard) -> Take:
        take = self._takes.make(first)
        if not self.recording.head:
            self.recording.head = take.head
            self._kept(self.recording.id, HEAD)
        elif self.recording.head != take.head:
            size = first.picture.size if isinstance(first, PictureShown) else (0, 0)
            raise EncoderError("H264", size, "it begins differently than before")
        return take

    def _collect(self, take: Take) -> None:
        for fragment in take.fragments():
            self._store(self._cutter.add(fragment))

    def _store(self, cut: Cut | None) -> None:
        if cut is None:
            return
        try:
            segment = self._shelf.store(
                self.recording, (cut.start_s, cut.end_s), cut.film, cut.notes
            )
        except OSError as error:
            self._losses.labels("segment_not_stored").inc()
            if not self.recording.lost_reason:  # one line, not one per segment
                log.error("recording_not_stored", reason=str(error))
            self.recording.lose(cut.end_s, error.strerror or str(error))
        else:
            self._failures = 0
            self._kept(self.recording.id, segment.number)

    def _fail(self, error: Exception, now_s: float) -> None:
        """Give up the stretch; what was complete of it stays."""
        self._take = None
        self._failures += 1
        self._not_before_s = now_s + _AGAIN_AFTER_S
        self._losses.labels("encoder_failed").inc()
        log.error("recording_failed", times=self._failures, exc_info=error)
        self._store(self._cutter.finish())
        self._cutter.clear()
        if self._failures >= _MOST_FAILURES:
            self.recording.is_broken = True
            self.recording.time.shut()
            self.recording.lose(math.inf, "the encoder failed")
            log.error("recording_given_up")
