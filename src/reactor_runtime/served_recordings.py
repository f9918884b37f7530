"""What a deployment has recorded: recordings and the results of steps, and where they are kept.

Importing this module loads no encoder.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reactor_runtime.clock import FOR_EVER_S, Clock
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track
from reactor_runtime.scratch_folder import ScratchFolder
from reactor_runtime.settings import ServeSettings

if TYPE_CHECKING:
    from reactor_runtime.recording.recorder import Recorder
    from reactor_runtime.recording.recording_settings import RecordingSettings
    from reactor_runtime.recording.shelf import Shelf
    from reactor_runtime.recording.step_results import StepResults
    from reactor_runtime.recording.step_shelf import StepShelf

log = get_logger(__name__)


def open_shelf(settings: ServeSettings, clock: Clock, metrics: Metrics) -> "Shelf | None":
    """Return where recordings are kept, ``None`` where none are made or none can be."""
    if not settings.is_recorded:
        return None
    from reactor_runtime.recording.shelf import Shelf

    folder = _opened_folder("recordings", settings, "recording_unavailable")
    if folder is None:
        return None
    return Shelf(
        folder,
        max_bytes=settings.recordings_size,
        min_free_bytes=settings.min_free_disk,
        keep_s=settings.recordings_keep_s,
        clock=clock,
        metrics=metrics,
    )


def open_steps(settings: ServeSettings, clock: Clock) -> "StepShelf | None":
    """Return where the results of steps are kept, ``None`` where none are or none can be."""
    if not settings.step_results:
        return None
    from reactor_runtime.recording.step_shelf import StepShelf

    folder = _opened_folder("steps", settings, "step_results_unavailable")
    if folder is None:
        return None
    return StepShelf(
        folder,
        max_bytes=settings.recordings_size,
        min_free_bytes=settings.min_free_disk,
        keep_s=settings.recordings_keep_s,
        clock=clock,
    )


def _opened_folder(kind: str, settings: ServeSettings, lack: str) -> ScratchFolder | None:
    """Return the folder, open; ``None``, with *lack* in the log, where there can be none."""
    folder = ScratchFolder(kind, settings.recordings_path)
    try:
        folder.open()
    except OSError as error:
        log.error(lack, reason=str(error))
        return None
    return folder


def make_step_results(
    shelf: "StepShelf", outputs: Sequence[Track], settings: ServeSettings, metrics: Metrics
) -> "StepResults":
    """Return who keeps the results of a model with these *outputs*.

    Raises:
        SettingError: What is to be recorded is none of them.
    """
    from reactor_runtime.recording.step_results import StepResults

    return StepResults(shelf, recording_settings(outputs, settings), metrics)


def make_recorder(
    shelf: "Shelf",
    outputs: Sequence[Track],
    settings: ServeSettings,
    clock: Clock,
    metrics: Metrics,
) -> "Recorder":
    """Return who records a model with these *outputs*.

    Raises:
        SettingError: What is to be recorded is none of them.
    """
    from reactor_runtime.recording.recorder import Recorder

    return Recorder(shelf, recording_settings(outputs, settings), clock=clock, metrics=metrics)


def recording_settings(outputs: Sequence[Track], settings: ServeSettings) -> "RecordingSettings":
    """Return which of *outputs* are recorded, and how.

    Raises:
        SettingError: What is to be recorded is none of them.
    """
    from reactor_runtime.recording.mp4_writer import AudioCodec
    from reactor_runtime.recording.recorded_tracks import recorded_tracks
    from reactor_runtime.recording.recording_settings import RecordingSettings

    given, default = settings.recording, RecordingSettings()
    video_track, audio_track = recorded_tracks(outputs, given)
    longest_s = default.clip_max_s if given.clip_max_seconds is None else given.clip_max_seconds
    return RecordingSettings(
        chunk_s=given.chunk_seconds or default.chunk_s,
        clip_max_s=longest_s or FOR_EVER_S,
        video_track=video_track,
        audio_track=audio_track,
        crf=default.crf if given.video.crf is None else given.video.crf,
        max_bitrate=settings.max_bitrate,
        audio_codec=AudioCodec(given.audio.codec or default.audio_codec),
        audio_bitrate=given.audio.bitrate or default.audio_bitrate,
    )
