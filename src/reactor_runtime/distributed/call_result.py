"""CallResult: what a call of every rank came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy.typing as npt

from reactor_runtime.distributed.frame_parts import Part
from reactor_runtime.distributed.shared_frame_buffer import Lease


class CallTiming(NamedTuple):
    """Where the time of a call went, in seconds.

    Attributes:
        broadcast_s: Packing the verb and sending it to every rank.
        compute_s: The verb itself, by rank.
        collect_s: From the last send to the last answer.
        place_s: Making a larger slot and writing what had waited for it; mostly 0.
    """

    broadcast_s: float = 0.0
    compute_s: tuple[float, ...] = ()
    collect_s: float = 0.0
    place_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
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
    parts: Mapping[str, tuple[tuple[tuple[int, Part], ...], ...]] = field(default_factory=dict)
    lease: Lease | None = field(default=None, repr=False)

    def pictures(self, track: str) -> list[npt.NDArray[Any]]:
        """Return the pictures of *track*, read-only views; the slot is theirs until all are gone.

        They show what the ranks wrote; where no rank wrote, they show what was there before.
        """
        if self.lease is None:
            return []
        return [self.lease.view(widest(written)) for written in self.parts.get(track, ())]


def widest(written: tuple[tuple[int, Part], ...]) -> Part:
    """Return the part whose picture has the most frames."""
    return max((part for _, part in written), key=lambda part: part.shape[:1])
