"""Recorder: records what is shown while somebody watches, and promises clips of it.

The session says what state it is in and asks for clips, on the event loop; the stream gives
pictures and sound, on the media threads. Neither ever waits for it.
"""

import asyncio
import math
import threading
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.errors import ClipRefusedError
from reactor_runtime.log import get_logger
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.media.timeline import Said, Shown
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.note import Note
from reactor_runtime.recording.recorder_thread import RecorderThread
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.reel import Kept
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.recording.take import Take
from reactor_runtime.recording.take_maker import OpenTake
from reactor_runtime.recording.tape import Begun, Ended, PictureShown, Rested, SoundHeard, Tape
from reactor_runtime.session.recorder import DISABLED, NOTHING_YET
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.wire.messages import ClipReady

SNAP, WHOLE = "snap", "recording"
_EARLY_SOUNDS = 50  # of 20 ms
_SETTLE_S = 0.1  # from a segment's last picture to its file

log = get_logger(__name__)


class Recorder:
    """Implements the session's ``Recorder`` and the stream's ``Tap``, for one model.

    Args:
        shelf: Where recordings are kept.
        settings: How they are made.
        clock: The time.
        metrics: Where losses are counted.
        open_take: Opens the encoders of a stretch.
    """

    def __init__(
        self,
        shelf: Shelf,
        settings: RecordingSettings,
        *,
        clock: Clock,
        metrics: Metrics,
        open_take: OpenTake = Take,
    ) -> None:
        self._settings, self._shelf, self._clock = settings, shelf, clock
        self._losses = metrics.recording_losses.labels("picture_behind")
        self._tape = Tape(settings.max_queued_bytes)
        self._thread = RecorderThread(
            self._tape, shelf, settings, clock=clock, metrics=metrics, open_take=open_take
        )
        self._in_order = threading.Lock()  # nothing shown lies behind what ended its stretch
        self._recording: Recording | None = None
        self._early: deque[tuple[float, NDArray[np.int16], Sequence[Said]]] = deque(
            maxlen=_EARLY_SOUNDS
        )
        self._is_behind = False

    def start(self, loop: asyncio.AbstractEventLoop, kept: Kept) -> None:
        """Start the recorder's thread; *kept* is called on *loop* for every segment."""

        def tell(recording_id: str, number: int) -> None:
            call_soon(loop, kept, recording_id, number)

        self._thread.start(tell)

    def stop(self) -> None:
        """End the thread within two seconds; what it had not stored yet is lost."""
        self._thread.stop()

    @property
    def tracks(self) -> tuple[str, ...]:
        """The names of the output tracks it records."""
        return self._settings.tracks

    # --- the session's side ---

    @property
    def chunk_s(self) -> float:
        """Seconds of one segment."""
        return self._settings.chunk_s

    def follow(self, state: SessionState) -> None:
        """Begin, go on, rest or end, as the session does."""
        if state is SessionState.WAITING:
            self._recording, self._is_behind = self._shelf.begin(), False
            self._tape.put(Begun(recording=self._recording))
        elif self._recording is None:
            return
        elif state is SessionState.STREAMING:
            if not self._recording.is_broken:
                self._recording.time.open()
        else:
            with self._in_order:
                at_s = self._recording.time.rest(self._clock.now())
                self._early.clear()
                is_over = not state.is_running
                self._tape.put(Ended(at_s=at_s) if is_over else Rested(at_s=at_s))
                self._recording = None if is_over else self._recording

    def name(self, given: str) -> None:
        """Let this session's recording be found by the name its starter has *given*, too."""
        if self._recording is not None:
            self._shelf.name(self._recording, given)

    def clip(self, duration_s: float | None) -> ClipReady:
        """Promise the last *duration_s* seconds, or (``None``) everything so far.

        Raises:
            ClipRefusedError: There is none; it says why.
        """
        recording = self._recording_to_cut()
        now_s = recording.time.now(self._clock.now())
        start_s = recording.offered[0].start_s if recording.offered else 0.0
        if duration_s is not None:
            if not 0 < duration_s < math.inf:
                raise ClipRefusedError("a clip lasts more than 0 seconds")
            start_s = max(start_s, now_s - min(duration_s, self._settings.clip_max_s))
        start, end = round(start_s, 3), round(now_s, 3)
        return ClipReady(
            recording_id=recording.id,
            kind=WHOLE if duration_s is None else SNAP,
            start_marker=start,
            end_marker=end,
            now_marker=end,
            predicted_ready_at_ms=round(1000 * (self._clock.wall() + self._wait_s(now_s))),
            playlist_url=f"/clips?session_id={recording.id}&start={start:.3f}&end={end:.3f}",
        )

    def _recording_to_cut(self) -> Recording:
        recording = self._recording
        if recording is None or recording.is_broken:
            raise ClipRefusedError(DISABLED)
        if recording.lost_reason:
            raise ClipRefusedError(f"recordings cannot be stored: {recording.lost_reason}")
        if not recording.time.has_begun:
            raise ClipRefusedError(NOTHING_YET)
        return recording

    def _wait_s(self, now_s: float) -> float:
        """Return the seconds until the segment that holds *now_s* can be had."""
        closes_s = (math.floor(now_s / self.chunk_s) + 1) * self.chunk_s
        return closes_s - now_s + _SETTLE_S

    # --- the stream's side, on its threads ---

    @property
    def is_open(self) -> bool:
        """Whether anything is recorded now."""
        recording = self._recording
        return recording is not None and recording.time.is_open

    def picture(self, shown: Shown) -> None:
        """Record a picture; where the encoder is too far behind it is left out."""
        with self._in_order:
            if (recording := self._recording) is None:
                return
            recording.time.run_from(shown.time)
            at_s = recording.time.at(shown.time)
            if at_s is None:
                return
            said, track = shown.picture.metadata, self._settings.video_track
            notes = () if said is None else (Note(at_s=at_s, track=track or "", value=said),)
            item = PictureShown(
                picture=shown.picture, at_s=at_s, length_s=shown.length_s, notes=notes
            )
            has_room = self._tape.put(item)
            self._put_early(recording)
        if not has_room:
            self._fell_behind()

    def sound(
        self, presented_at: float, samples: NDArray[np.int16], said: Sequence[Said] = ()
    ) -> None:
        """Record sound, from the first picture on; without pictures from the first sound on."""
        with self._in_order:
            if (recording := self._recording) is None:
                return
            if self._settings.video_track is None and recording.time.at(presented_at) is None:
                if not samples.any():
                    return
                recording.time.run_from(presented_at)
            self._early.append((presented_at, samples, said))
            self._put_early(recording)

    def _put_early(self, recording: Recording) -> None:
        """Record the sound that is there already: its picture's thread may have been slower."""
        while self._early and (at_s := recording.time.at(self._early[0][0])) is not None:
            presented_at, samples, said = self._early.popleft()
            notes = [
                Note(
                    at_s=max(at_s + each.time - presented_at, 0.0),
                    track=each.track,
                    value=each.metadata,
                )
                for each in said
            ]
            self._tape.put(SoundHeard(samples=samples, at_s=at_s, notes=notes))

    def _fell_behind(self) -> None:
        self._losses.inc()
        if not self._is_behind:  # once in a session: where one picture finds no room, many follow
            self._is_behind = True
            log.warning("recording_behind", reason="pictures come faster than they are encoded")
