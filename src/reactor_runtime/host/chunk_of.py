"""Makes the chunk an ``Output`` stands for: every value checked, in canonical layout."""

from collections.abc import Mapping
from typing import Any

from reactor_runtime.errors import FrameError
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.host.shard_place import shard_in
from reactor_runtime.model.frames import Pictures, Sound, canonical_audio, canonical_video
from reactor_runtime.model.metadata_snapshot import snapshot
from reactor_runtime.model.output import Output, Shard, TrackPayload
from reactor_runtime.model.tracks import Track, TrackKind

_WHOLE = (
    "a Shard is a part of a picture, and this track is sound; give all of it on the leader "
    "(`sound if self.is_leader else None`), gathered first where ranks hold parts of it"
)


def chunk_of(
    output: Output,
    tracks: Mapping[str, Track],
    *,
    started_at: float,
    compute_s: float,
    pinned_fps: float | None,
) -> Chunk | None:
    """Return *output* as a chunk, ``None`` when there is nothing to see or hear in it.

    Args:
        output: What the author emits.
        tracks: The output tracks the model declares.
        started_at: As in ``Chunk``.
        compute_s: As in ``Chunk``.
        pinned_fps: As in ``Chunk``.

    Raises:
        FrameError: A value cannot be a frame of its track.
    """
    video: dict[str, Pictures] = {}
    audio: dict[str, Sound] = {}
    metadata: dict[str, tuple[Any, ...]] = {}
    for name in type(output).__tracks__:
        value, told = _unwrapped(getattr(output, name))
        if value is None:
            continue
        told = snapshot(told)
        if name not in tracks:
            raise FrameError(name, f"the model declares no such track; it has {list(tracks)}")
        if tracks[name].kind is TrackKind.VIDEO:
            video[name] = canonical_video(name, value)
            has_frames_axis = getattr(value, "ndim", 4) == 4
            told = _per_frame(name, told, len(video[name]), is_list=has_frames_axis)
        elif shard_in(getattr(output, name)) is not None:
            raise FrameError(name, _WHOLE)
        else:
            audio[name] = canonical_audio(name, value, tracks[name].sample_rate)
            told = (told,)
        if any(one is not None for one in told):
            metadata[name] = told
    _check_lengths(video)
    if not video and not any(sound.size for sound in audio.values()):
        return None
    return Chunk(
        video=video, audio=audio, metadata=metadata,
        started_at=started_at, compute_s=compute_s, pinned_fps=pinned_fps,
    )  # fmt: skip


def frames_in(chunk: Chunk) -> int:
    """Return how many frames *chunk* takes in the queue; one of sound alone counts as one."""
    return max(map(len, chunk.video.values()), default=1)


def _unwrapped(value: Any) -> tuple[Any, Any]:
    """Return the array and the metadata in *value*; in a world of one a ``Shard`` is its part."""
    told = None
    while isinstance(value, TrackPayload | Shard):
        if isinstance(value, Shard):
            value = value.part
        else:
            value, told = value.array, value.metadata
    return value, told


def _per_frame(track: str, told: Any, frames: int, *, is_list: bool) -> tuple[Any, ...]:
    if not is_list or not isinstance(told, list | tuple):
        return (told,) * frames
    if len(told) != frames:
        raise FrameError(track, f"{len(told)} metadata values for {frames} frames; wanted one each")
    return tuple(told)


def _check_lengths(video: Mapping[str, Pictures]) -> None:
    lengths = {name: len(pictures) for name, pictures in video.items()}
    if len(set(lengths.values())) > 1:
        raise FrameError(
            next(iter(lengths)), f"the video tracks of one Output differ in length: {lengths}"
        )
