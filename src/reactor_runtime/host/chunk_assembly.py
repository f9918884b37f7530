"""Makes the chunk that the ranks' Outputs stand for together: views of shared frames, checked."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from reactor_runtime.distributed.call_result import CallResult
from reactor_runtime.distributed.frame_parts import Part, Shape
from reactor_runtime.errors import FrameError, RankDesync
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.host.rank_messages import Emitted, Place
from reactor_runtime.model.frames import Pictures

_PHASE = "step"
_CURE = (
    "every rank gives its Shard, and together they cover the whole: start= is where a part begins "
    "in it, of= its size"
)


def outputs_of(result: CallResult) -> list[list[Emitted | None]]:
    """Return the Outputs of a call in order, each as every rank emitted it, ``None`` where not."""
    by_rank = [payload.outputs for payload in result.payloads]
    count = max(map(len, by_rank))
    return [
        [outputs[index] if index < len(outputs) else None for outputs in by_rank]
        for index in range(count)
    ]


def place_of(emitted: Sequence[Emitted | None]) -> Place:
    """Return where an Output comes, as whichever rank emitted it says."""
    return next(output.place for output in emitted if output is not None)


def stray_rank(emitted: Sequence[Emitted | None]) -> int | None:
    """Return a rank that emitted a plain array where the leader emitted nothing."""
    leader = emitted[0]
    for rank, output in enumerate(emitted[1:], 1):
        plain = output is not None and set(output.pictures) - output.shards
        if plain and (leader is None or not plain <= set(leader.pictures)):
            return rank
    return None


def assemble(
    emitted: Sequence[Emitted | None],
    result: CallResult,
    *,
    started_at: float,
    compute_s: float,
    pinned_fps: float | None,
) -> Chunk | None:
    """Return the chunk, ``None`` when no rank that counts emitted anything.

    Args:
        emitted: One Output, as every rank emitted it.
        result: The call it was emitted in; its frames are viewed, not copied.
        started_at: As in ``Chunk``.
        compute_s: As in ``Chunk``, unless the author said otherwise.
        pinned_fps: As in ``Chunk``.

    Raises:
        RankDesync: The ranks' Outputs do not belong together.
        FrameError: The parts do not make a whole picture.
    """
    numbers = _numbers(emitted)
    video = {track: _picture(track, number, result) for track, number in numbers.items()}
    leader = emitted[0]
    audio = dict(leader.audio) if leader is not None else {}
    if not video and not any(sound.size for sound in audio.values()):
        return None
    said_s = leader.compute_s if leader is not None else None
    return Chunk(
        video=video,
        audio=audio,
        metadata=_metadata(emitted, numbers, result, {t: len(v) for t, v in video.items()}),
        started_at=started_at,
        compute_s=compute_s if said_s is None else said_s,
        pinned_fps=pinned_fps,
    )


def _numbers(emitted: Sequence[Emitted | None]) -> dict[str, int]:
    """Return the tracks that somebody wrote for, and the number of their picture."""
    numbers: dict[str, int] = {}
    for rank, output in enumerate(emitted):
        if output is None:
            continue
        for track, number in output.pictures.items():
            counts = rank == 0 or track in output.shards
            if counts and numbers.setdefault(track, number) != number:
                reason = f"the pictures of track {track!r} belong to different Outputs"
                raise RankDesync(_PHASE, reason, (rank,))
    return numbers


def _picture(track: str, number: int, result: CallResult) -> Pictures:
    written = _written(track, number, result)
    if not written or result.lease is None:
        raise FrameError(track, f"no rank wrote picture {number}")
    frames = max(_end_row(part) for _, part in written)
    whole = max((part for _, part in written), key=_end_row)
    _check_whole(track, (frames, *whole.shape[1:]), written, len(result.payloads))
    view: Pictures = result.lease.view(whole, frames)
    return view


def _written(track: str, number: int, result: CallResult) -> list[tuple[int, Part]]:
    return [
        (rank, part)
        for ranks in result.parts.get(track, ())
        for rank, part in ranks
        if part.picture == number
    ]


def _end_row(part: Part) -> int:
    return (part.origin[0] if part.origin else 0) + part.extent[0]


def _check_whole(
    track: str, shape: Shape, written: Sequence[tuple[int, Part]], world_size: int
) -> None:
    """Raise unless the parts cover *shape*.

    Raises:
        FrameError: It names the first rows that are missing.
    """
    axes = range(3)
    cuts = [sorted({0, shape[axis], *_edges(axis, written, shape)}) for axis in axes]
    for cell in product(*(range(len(edges) - 1) for edges in cuts)):
        start = tuple(cuts[axis][cell[axis]] for axis in axes)
        if not any(_covers(part, start) for _, part in written):
            stop = tuple(cuts[axis][cell[axis] + 1] for axis in axes)
            axis = next((a for a in axes if stop[a] - start[a] < shape[a]), 0)
            name = ("frames", "rows", "columns")[axis]
            gave = dict.fromkeys(range(world_size), "nothing")
            gave |= {rank: _span(part, axis) for rank, part in written}
            held = ", ".join(f"rank {rank} gave {span}" for rank, span in gave.items())
            raise FrameError(
                track,
                f"{name} {start[axis]} to {stop[axis]} are missing of {shape[axis]}: {held} (the "
                f"last one not counted); {_CURE}",
            )


def _edges(axis: int, written: Sequence[tuple[int, Part]], shape: Shape) -> set[int]:
    edges: set[int] = set()
    for _, part in written:
        begin = part.origin[axis] if part.origin else 0
        edges |= {min(begin, shape[axis]), min(begin + part.extent[axis], shape[axis])}
    return edges


def _covers(part: Part, point: Shape) -> bool:
    origin = part.origin or (0,) * len(part.extent)
    return all(
        origin[axis] <= point[axis] < origin[axis] + part.extent[axis] for axis in range(len(point))
    )


def _span(part: Part, axis: int) -> str:
    begin = part.origin[axis] if part.origin else 0
    return f"{begin} to {begin + part.extent[axis]}"


def _metadata(
    emitted: Sequence[Emitted | None],
    numbers: Mapping[str, int],
    result: CallResult,
    lengths: Mapping[str, int],
) -> dict[str, tuple[Any, ...]]:
    """Return the leader's metadata; of a shared picture, each rank's for the frames it wrote."""
    told = dict(emitted[0].metadata) if emitted[0] is not None else {}
    for track, frames in lengths.items():
        values = [None] * frames
        for start, own in _told(track, numbers[track], emitted, result):
            for frame, value in enumerate(own[: frames - start], start):
                values[frame] = value if values[frame] is None else values[frame]
        whole = told.get(track, ())
        if len({id(value) for value in whole}) == 1:  # one for all, however many there are
            values = [whole[0] if value is None else value for value in values]
        told[track] = tuple(values)
    return {track: values for track, values in told.items() if set(map(id, values)) != {id(None)}}


def _told(
    track: str, number: int, emitted: Sequence[Emitted | None], result: CallResult
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield first frame and values of all that was said of a picture, the leader's first."""
    starts = {
        rank: part.origin[0] if part.origin else 0 for rank, part in _written(track, number, result)
    }
    for rank, output in enumerate(emitted):
        if output is not None and track in output.metadata:
            yield starts.get(rank, 0), output.metadata[track]
