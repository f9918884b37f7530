"""Peers: the ranks of an offline run, each of which drives itself by the same script.

There is no host process to compare them, so after every verb they tell each other what it came to,
as JSON, in a gloo group of their own; the pixels of shards go to the leader as they are.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.distributed import process_group
from reactor_runtime.distributed.call_result import CallResult, CallTiming, by_picture
from reactor_runtime.distributed.frame_parts import Part, Shape
from reactor_runtime.host.agreement import check_alike
from reactor_runtime.host.rank_messages import Emitted, RankReply, StepResult
from reactor_runtime.world import World

Held = list[tuple[Part, NDArray[Any]]]


class Peers:
    """One rank's line to the others; in a world of one, to nobody.

    Args:
        world: This rank's place.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._group = process_group.make_side_group() if world.world_size > 1 else None

    def gather(self, value: Any) -> list[Any]:
        """Return every rank's *value*, which JSON can hold, by rank."""
        content = json.dumps(value).encode()
        if self._group is None:
            return [json.loads(content)]
        return [json.loads(each) for each in process_group.gather_bytes(self._group, content)]

    def leaders(self, number: float) -> float:
        """Return the leader's *number*."""
        return number if self._group is None else process_group.tell_number(self._group, number)

    def exchange(self, phase: str, reply: RankReply, held: Held) -> CallResult:
        """Return what a verb came to on all ranks; on the leader with every picture.

        Args:
            phase: What the ranks did.
            reply: This rank's.
            held: What this rank wrote.

        Raises:
            RankDesync: The ranks differ.
        """
        told = self.gather({"reply": _summary(reply), "parts": [p._asdict() for p, _ in held]})
        replies = tuple(_restored(each["reply"]) for each in told)
        own = self._world.rank
        full = reply._replace(signature=replies[own].signature)
        replies = (*replies[:own], full, *replies[own + 1 :])
        check_alike(phase, replies)
        written = [(rank, _part(tree)) for rank, each in enumerate(told) for tree in each["parts"]]
        parts = by_picture(phase, written)
        pixels = self._collect(written, held)
        lease = GatheredPictures(pixels) if self._world.is_leader else None
        return CallResult(payloads=replies, timing=CallTiming(), parts=parts, lease=lease)

    def _collect(self, written: Sequence[tuple[int, Part]], held: Held) -> Held:
        """Bring every part to the leader, in the order of ranks; others send theirs."""
        if not self._world.is_leader:
            for _, array in held:
                process_group.send_array(self._group, array)
            return []
        found = list(held)
        for rank, part in written:
            if rank > 0:
                array = np.empty(part.extent, part.dtype)
                process_group.receive_array(self._group, array, rank)
                found.append((part, array))
        return found


class PartKeeper:
    """Where a rank's pixels go: it keeps a copy of each part until they are taken."""

    def __init__(self) -> None:
        self._held: Held = []

    def place(
        self,
        track: str,
        pixels: Any,
        *,
        shape: Shape | None = None,
        origin: Shape = (),
        picture: int | None = None,
        may_change: bool = False,
    ) -> None:
        """Keep a copy of *pixels*, an array; what canonical layout is has been seen to."""
        array = np.array(pixels, order="C")
        part = Part(
            track=track,
            picture=picture or 0,
            offset=0,
            shape=shape or array.shape,
            dtype=str(array.dtype),
            origin=origin,
            extent=array.shape,
        )
        self._held.append((part, array))

    def reserve(self, track: str, shape: Shape, dtype: str, *, picture: int) -> None:
        """Do nothing: others write it."""

    def take(self) -> Held:
        """Return, and forget, what was written."""
        held, self._held = self._held, []
        return held


@dataclass(frozen=True, slots=True)
class GatheredPictures:
    """The parts of every picture of a step, on the leader."""

    held: Held

    def view(self, part: Part, frames: int | None = None) -> NDArray[Any]:
        """Return the picture that *part* belongs to."""
        count = part.shape[0] if frames is None else frames
        whole = (count, *part.shape[1:])
        key = (part.track, part.picture)
        own = [(p, array) for p, array in self.held if (p.track, p.picture) == key]
        if len(own) == 1 and own[0][1].shape == whole:
            return own[0][1]
        picture: NDArray[Any] = np.zeros(whole, part.dtype)
        for each, array in own:
            origin = each.origin or (0,) * len(each.extent)
            window = tuple(slice(o, o + n) for o, n in zip(origin, each.extent, strict=True))
            picture[window] = array
        return picture


def _summary(reply: RankReply) -> dict[str, Any]:
    step = reply.step
    return {
        "signature": reply.signature,
        "is_asking": reply.is_asking,
        "digests": dict(reply.digests),
        "outputs": [[o.place, dict(o.pictures), sorted(o.shards)] for o in reply.outputs],
        "step": None if step is None else {"refused": step.refused, "shown": step.shown},
    }


def _restored(tree: Mapping[str, Any]) -> RankReply:
    reply = RankReply(
        signature=tuple(map(_as_tuple, tree["signature"])),
        is_asking=tree["is_asking"],
        digests=tree["digests"],
        outputs=tuple(
            Emitted(place=_as_tuple(place), pictures=pictures, shards=frozenset(shards))
            for place, pictures, shards in tree["outputs"]
        ),
    )
    return reply if tree["step"] is None else reply._replace(step=StepResult(**tree["step"]))


def _part(tree: Mapping[str, Any]) -> Part:
    return Part(**{name: _as_tuple(value) for name, value in tree.items()})


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
