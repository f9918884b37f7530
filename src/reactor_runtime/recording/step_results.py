"""StepResults: each step's output as a folder, made away from everybody who is live.

The stream gives what was emitted as it converts it, the host says when a step is done; a thread of
its own encodes and stores. Past its bound steps are left out, and nobody waits.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.log import get_logger
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.media.picture import Picture
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.step_film import FinishedStep, ShownChunk, files_of
from reactor_runtime.recording.step_queue import StepQueue
from reactor_runtime.recording.step_shelf import StepShelf
from reactor_runtime.recording.thread_priority import lower_priority
from reactor_runtime.session.session_state import SessionState

Kept = Callable[[StepReport, bool], None]

_JOIN_S = 2.0
_LOOK_S = 5.0  # how often to look for what has been kept long enough

log = get_logger(__name__)


class StepResults:
    """Implements the session's ``StepKeeper``, and hears what a stream converts. One model's.

    Args:
        shelf: Where folders are kept.
        settings: Which tracks are filmed, and how.
        metrics: Where losses are counted.
    """

    def __init__(self, shelf: StepShelf, settings: RecordingSettings, metrics: Metrics) -> None:
        self._shelf, self._settings = shelf, settings
        self._losses = metrics.recording_losses.labels("step")
        self._queue = StepQueue(settings.max_queued_bytes)
        self._lock = threading.Lock()
        self._shown: list[ShownChunk] = []
        self._session_id, self._has_warned = "", False
        self._thread = threading.Thread(target=self._run, name="reactor-steps", daemon=True)
        self._kept: Kept = lambda report, is_saved: None

    def start(self, loop: asyncio.AbstractEventLoop, kept: Kept) -> None:
        """Start the thread; *kept* hears on *loop* of each step, and whether it was saved."""

        def tell(report: StepReport, is_saved: bool) -> None:
            call_soon(loop, kept, report, is_saved)

        self._kept = tell
        self._thread.start()

    def stop(self) -> None:
        """End the thread within two seconds; what it had not stored yet is lost."""
        self._queue.close()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            log.error("step_thread_stuck")

    # --- the session's side ---

    def follow(self, state: SessionState) -> None:
        """Let the time run out for results of a session that has ended."""
        if not state.is_running:
            self._shelf.end()

    def name(self, session_id: str, given: str) -> None:
        """Let the results of *session_id* be found by another id, too."""
        self._shelf.begin(session_id)
        self._shelf.name(session_id, given)

    def step_done(self, report: StepReport) -> None:
        """Have the step stored, unless it came to nothing or too much waits already."""
        with self._lock:
            step = FinishedStep(report=report, chunks=self._shown)
            self._shown = []
        if report.refused or not (step.chunks or report.files or report.error is not None):
            return
        if report.session_id != self._session_id:
            self._session_id = report.session_id
            self._shelf.begin(report.session_id)
        if not self._queue.put(step):
            self._lose(report, "steps come faster than they are encoded")

    # --- the stream's side ---

    def converted(
        self,
        queued: QueuedChunk,
        pictures: Mapping[str, Sequence[Picture]],
        sounds: Mapping[str, NDArray[np.int16]],
    ) -> None:
        """Note one output of the step that runs."""
        video, audio = self._settings.video_track, self._settings.audio_track
        chunk = ShownChunk(
            queued=queued,
            pictures=tuple(pictures.get(video, ())) if video is not None else (),
            sound=sounds.get(audio) if audio is not None else None,
        )
        with self._lock:
            self._shown.append(chunk)

    # --- the thread ---

    def _run(self) -> None:
        lower_priority()
        while not self._queue.is_closed:
            step = self._queue.take(_LOOK_S)
            self._shelf.expire()
            if step is not None:
                self._store(step)

    def _store(self, step: FinishedStep) -> None:
        report = step.report
        try:
            files = files_of(step, self._settings)
            self._shelf.store(report.session_id, report.number, files)
        except Exception as error:  # noqa: BLE001 - encoders and disks fail in many ways
            self._lose(report, f"{type(error).__name__}: {error}")
        else:
            self._kept(report, True)

    def _lose(self, report: StepReport, reason: str) -> None:
        self._losses.inc()
        self._kept(report, False)
        if not self._has_warned:  # once: where one step is lost, many follow
            self._has_warned = True
            log.warning("step_not_saved", step=report.number, reason=reason)
