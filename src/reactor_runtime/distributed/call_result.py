"""CallResult: what a call of every rank came to."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from reactor_runtime.distributed.frame_parts import Part
from reactor_runtime.errors import RankDesync

Written = tuple[int, Part]  # a rank, and what it wrote

_PARTS = (
    "; without start= and of= all ranks' parts are of one shape; with them, start is where a part "
    "begins in the whole, and of, the size of the whole, is the same on every rank"
)


class PictureViews(Protocol):
    """The right to read what the ranks wrote in one call."""

    def view(self, part: Part, frames: int | None = None) -> npt.NDArray[Any]:
        """Return the picture *part* belongs to, read-only; its first *frames* frames if given."""
        ...


class CallTiming(NamedTuple):
    """Where the time of a call went, in seconds.

    Attributes:
        broadcast_s: Packing the verb and sending it to every rank.
        compute_s: The verb itself, by rank; empty while it is suspended.
        collect_s: From the last send to the last answer.
        place_s: Making a larger slot and writing what had waited for it; mostly 0.
    """

    broadcast_s: float = 0.0
    compute_s: tuple[float, ...] = ()
    collect_s: float = 0.0
    place_s: float = 0.0


class CallResult(NamedTuple):
    """The answers of all ranks, and the frames they wrote.

    Attributes:
        payloads: What the verb returned, or what it waits for, by rank.
        timing: Where the time went.
        is_suspended: Whether every rank waits for ``resume``.
        parts: Track name to what was written of each of its pictures, by whichever rank.
        lease: The right to read the frames, ``None`` when there are none.
    """

    payloads: tuple[Any, ...]
    timing: CallTiming
    is_suspended: bool = False
    parts: Mapping[str, tuple[tuple[Written, ...], ...]] = MappingProxyType({})
    lease: PictureViews | None = None

    def pictures(self, track: str) -> list[npt.NDArray[Any]]:
        """Return the pictures of *track*, read-only views; the slot is theirs until all are gone.

        They show what the ranks wrote; where no rank wrote, they show what was there before.
        """
        if self.lease is None:
            return []
        return [self.lease.view(widest(written)) for written in self.parts.get(track, ())]


def by_picture(
    phase: str, written: Iterable[Written]
) -> dict[str, tuple[tuple[Written, ...], ...]]:
    """Return what ranks wrote in *phase*, by track and picture.

    Raises:
        RankDesync: Two ranks do not mean the same picture.
    """
    written = tuple(written)
    if written and all(part == written[0][1] for _, part in written):  # as mostly: in place
        return {written[0][1].track: (written,)}
    found: dict[str, dict[int, list[Written]]] = {}
    for rank, part in written:
        found.setdefault(part.track, {}).setdefault(part.picture, []).append((rank, part))
    for pictures in found.values():
        for ranks in pictures.values():
            _check_alike(phase, ranks)
    return {
        track: tuple(tuple(pictures[k]) for k in sorted(pictures))
        for track, pictures in found.items()
    }


def _check_alike(phase: str, written: list[Written]) -> None:
    in_place = not all(part.extent for _, part in written)
    rank, first = written[0]
    for other_rank, other in written[1:]:
        skipped = 1 if in_place else 0  # in place, the slot may be longer than the chunk
        alike = (first.shape[skipped:], first.dtype, first.offset) == (
            other.shape[skipped:],
            other.dtype,
            other.offset,
        )
        if not alike:
            reason = (
                f"picture {first.picture} of track {first.track!r}: rank {rank} gave "
                f"{_words(first)}, rank {other_rank} gave {_words(other)}"
            )
            hint = _PARTS if _is_a_part(first) or _is_a_part(other) else ""
            raise RankDesync(phase, reason + hint, (rank, other_rank))


def _is_a_part(part: Part) -> bool:
    return part.extent not in ((), part.shape)


def _words(part: Part) -> str:
    if _is_a_part(part):
        return f"{part.extent} {part.dtype} as a part of {part.shape}"
    return f"{part.shape} {part.dtype}"


def widest(written: tuple[Written, ...]) -> Part:
    """Return the part whose picture has the most frames."""
    found = written[0][1]
    for _, part in written:
        if part.shape[:1] > found.shape[:1]:
            found = part
    return found
