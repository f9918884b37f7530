"""What one step showed, as files: ``output.mp4`` and ``result.json``."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.media.picture import Picture
from reactor_runtime.media.sample_line import RATE
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.model.json_value import NotJsonError, whole_json
from reactor_runtime.recording.mp4_writer import AudioTrack, Mp4Writer, VideoTrack
from reactor_runtime.recording.recording_settings import RecordingSettings

FILM, RESULT = "output.mp4", "result.json"
_MAX_METADATA_BYTES = 1 << 20  # of one picture or sound


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """One output of a step.

    Attributes:
        queued: The chunk on the timeline, which knows how long it lasts.
        pictures: Its pictures, of the track that is filmed.
        sound: int16 ``(n, 2)`` at 48 kHz, of the track that is.
    """

    queued: QueuedChunk
    pictures: Sequence[Picture] = ()
    sound: NDArray[np.int16] | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes it holds, about."""
        pixels = sum(width * height for width, height in (each.size for each in self.pictures))
        return pixels * 3 // 2 + (0 if self.sound is None else self.sound.nbytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """One step: the report of it, and what it showed."""

    report: StepReport
    chunks: Sequence[ShownChunk]

    @property
    def size_bytes(self) -> int:
        """Bytes it holds, about."""
        files = sum(len(content) for content in self.report.files.values())
        return files + sum(chunk.size_bytes for chunk in self.chunks)


def files_of(step: FinishedStep, settings: RecordingSettings) -> dict[str, bytes]:
    """Return the files of *step*: name to content.

    Raises:
        av.error.FFmpegError: An encoder failed.
    """
    files = {name: bytes(content) for name, content in step.report.files.items()}
    film = _film(step.chunks, settings)
    if film:
        files[FILM] = film
    files[RESULT] = json.dumps(_result(step, settings, sorted([*files, RESULT]))).encode()
    return files


def _film(chunks: Sequence[ShownChunk], settings: RecordingSettings) -> bytes:
    pictures = [each for chunk in chunks for each in chunk.pictures]
    has_sound = any(chunk.sound is not None and len(chunk.sound) for chunk in chunks)
    if not pictures and not has_sound:
        return b""
    sink = io.BytesIO()
    seconds = _seconds(chunks)
    video = VideoTrack(
        size=pictures[0].size,
        fps=min(max(len(pictures) / seconds, 1.0), 240.0) if seconds else 1.0,
        crf=settings.crf,
        max_bitrate=settings.max_bitrate,
    )
    audio = AudioTrack(codec=settings.audio_codec, bitrate=settings.audio_bitrate)
    writer = Mp4Writer(sink, video=video if pictures else None, audio=audio if has_sound else None)
    begins_s = 0.0
    for chunk in chunks:
        length_s = chunk.queued.duration / max(1, len(chunk.pictures))
        for number, picture in enumerate(chunk.pictures):
            writer.picture(picture, begins_s + number * length_s, length_s)
        if chunk.sound is not None and len(chunk.sound):
            writer.sound(chunk.sound, begins_s)
        begins_s += chunk.queued.duration
    writer.close()
    return sink.getvalue()


def _seconds(chunks: Sequence[ShownChunk]) -> float:
    return sum(chunk.queued.duration for chunk in chunks)


def _result(
    step: FinishedStep, settings: RecordingSettings, names: Sequence[str]
) -> Mapping[str, Any]:
    report = step.report
    pictures = [each for chunk in step.chunks for each in chunk.pictures]
    samples = sum(0 if chunk.sound is None else len(chunk.sound) for chunk in step.chunks)
    result: dict[str, Any] = {
        "session_id": report.session_id,
        "step": report.number,
        "error": report.error,
        "elapsed_seconds": round(report.step_s, 6),
        "duration_seconds": round(_seconds(step.chunks), 6),
        "files": names,
        "tracks": [],
    }
    if pictures:
        width, height = pictures[0].size
        track = {"name": settings.video_track, "kind": "video", "frames": len(pictures)}
        result["tracks"].append({**track, "width": width, "height": height})
    if samples:
        track = {"name": settings.audio_track, "kind": "audio", "samples": samples}
        result["tracks"].append({**track, "rate": RATE})
    if any(each.metadata is not None for each in pictures):
        result["metadata"] = [_json_of(each.metadata) for each in pictures]
    if said := list(_said(step.chunks, settings.audio_track)):
        result["sound_metadata"] = said
    return result


def _said(chunks: Sequence[ShownChunk], track: str | None) -> Iterator[Mapping[str, Any]]:
    """Yield what was said of the sound of each chunk, at its second of the film."""
    begins_s = 0.0
    for chunk in chunks:
        if track is not None and track in chunk.queued.said:
            value = _json_of(chunk.queued.said[track])
            yield {"time": round(begins_s, 6), "value": value}
        begins_s += chunk.queued.duration


def _json_of(value: Any) -> Any:
    try:
        return json.loads(whole_json(value, _MAX_METADATA_BYTES))
    except NotJsonError:
        return None
