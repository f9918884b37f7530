"""RecorderThread: records away from everybody who is live, one session after the other."""

import threading

from reactor_runtime.clock import Clock
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.reel import Kept, Reel
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.recording.take import Take
from reactor_runtime.recording.take_maker import OpenTake, TakeMaker
from reactor_runtime.recording.tape import Begun, Ended, Item, Rested, Tape
from reactor_runtime.recording.thread_priority import lower_priority

_JOIN_S = 2.0
_GRACE_S = 0.25  # a picture may be on its way for so long

log = get_logger(__name__)


class RecorderThread:
    """Takes from the tape. A life of its own: ``start``, then ``stop``, once each.

    Args:
        tape: What is to be recorded.
        shelf: Where it is kept.
        settings: How.
        clock: The time.
        metrics: Where losses are counted.
        open_take: Opens the encoders of a stretch.
    """

    def __init__(
        self,
        tape: Tape,
        shelf: Shelf,
        settings: RecordingSettings,
        *,
        clock: Clock,
        metrics: Metrics,
        open_take: OpenTake = Take,
    ) -> None:
        self._tape, self._shelf, self._settings = tape, shelf, settings
        self._clock, self._metrics, self._open_take = clock, metrics, open_take
        self._thread = threading.Thread(target=self._run, name="reactor-recorder", daemon=True)
        self._kept: Kept = _nobody
        self._reel: Reel | None = None

    def start(self, kept: Kept) -> None:
        """Start the thread; *kept* is called on it with recording and number of each segment."""
        self._kept = kept
        self._thread.start()

    def stop(self) -> None:
        """End the thread within two seconds; what waits on the tape is forgotten."""
        self._tape.close()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            log.error("recorder_thread_stuck")

    def _run(self) -> None:
        lower_priority()
        while not self._tape.is_closed:
            item = self._tape.take(self._patience_s())
            try:
                self._do(item)
            except Exception:  # top of a thread: one recording is lost, not all
                log.exception("recorder_failed")
                self._reel = None

    def _patience_s(self) -> float | None:
        """Return the seconds after which there is work even if nothing comes, ``None`` for ever."""
        now, waits = self._clock.now(), list[float]()
        if (expires_at := self._shelf.expire()) is not None:
            waits.append(expires_at - now)
        if self._reel is not None and self._reel.recording.time.is_open:
            waits.append(self._reel.due_s + _GRACE_S - self._reel.recording.time.now(now))
        return max(0.0, min(waits)) if waits and min(waits) < threading.TIMEOUT_MAX else None

    def _do(self, item: Item | None) -> None:
        match item, self._reel:
            case Begun(recording=recording), _:
                self._reel = Reel(
                    recording,
                    self._shelf,
                    takes=TakeMaker(self._settings, self._open_take),
                    chunk_s=self._settings.chunk_s,
                    metrics=self._metrics,
                    kept=self._kept,
                )
            case _, None:
                pass
            case None, reel:
                if reel.recording.time.is_open:
                    reel.catch_up(reel.recording.time.now(self._clock.now()) - _GRACE_S)
            case Rested(at_s=at_s), reel:
                reel.rest(at_s)
            case Ended(at_s=at_s), reel:
                reel.end(at_s)
                self._reel = None
            case other, reel:
                reel.add(other)


def _nobody(_recording_id: str, _number: int) -> None: ...
