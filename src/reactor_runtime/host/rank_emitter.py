"""RankEmitter: from an author's ``Output`` on a rank into the shared frames."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from reactor_runtime.author_text import text_of
from reactor_runtime.errors import FrameError
from reactor_runtime.host.chunk_of import chunk_of
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.rank_messages import Emitted, Flushed, Place
from reactor_runtime.host.rank_seat import RankSeat
from reactor_runtime.host.shard_place import place_of, shard_in
from reactor_runtime.model.frames import Pictures
from reactor_runtime.model.output import Output, Shard
from reactor_runtime.model.tracks import Track


class RankEmitter:
    """Belongs to a rank's loop; ``flush`` may be called from any thread. Never waits for room.

    Outputs leave with the answer to their verb, flushes at once: each says how far the author had
    come, so that it does not matter when the host hears of it.

    Of plain arrays the leader's count; of a ``Shard``, every rank's part does. What does not count
    is checked all the same, so that a wrong array is the same error on every rank.

    Args:
        rank: Whose.
        tracks: The output tracks the model declares.
        gate: Whether anybody sees it.

    Attributes:
        frames: The host's business.
        pinned_fps: The author's rate; ``None`` while the measured one is used.
    """

    def __init__(self, rank: RankSeat, tracks: Mapping[str, Track], *, gate: Gate) -> None:
        self.frames = 1
        self.pinned_fps: float | None = None
        self._rank, self._world = rank, rank.world
        self._tracks, self._gate = tracks, gate
        self._outputs: list[Emitted] = []
        self._next: Place = (0, 0)
        self._pictures: Counter[str] = Counter()

    async def emit(self, output: Output, *, compute_time: float | None, drop: bool) -> None:
        """Show *output*.

        Raises:
            FrameError: A value cannot be a frame of its track, or its metadata cannot be carried.
        """
        chunk = chunk_of(output, self._tracks, started_at=0.0, compute_s=0.0, pinned_fps=None)
        if chunk is None or not self._gate.is_open:
            return
        for name, told in chunk.metadata.items():
            self._check_metadata(name, told)
        shards = {name: shard_in(getattr(output, name)) for name in chunk.video}
        self._outputs.append(
            Emitted(
                place=self._next,
                pictures={
                    name: self._write(name, pictures, shards[name])
                    for name, pictures in chunk.video.items()
                },
                shards=frozenset(name for name, shard in shards.items() if shard is not None),
                audio=chunk.audio if self._world.is_leader else {},
                metadata={
                    name: told
                    for name, told in chunk.metadata.items()
                    if self._world.is_leader or shards.get(name) is not None
                },
                compute_s=compute_time,
                drop=drop,
            )
        )
        self._next = (self._next[0], len(self._outputs))

    def take(self) -> tuple[Emitted, ...]:
        """Return, and forget, what was emitted in the verb that is done."""
        self._next = (self._next[0] + 1, 0)
        outputs = tuple(self._outputs)
        self._outputs.clear()
        self._pictures.clear()
        return outputs

    def flush(self) -> None:
        """Drop what was emitted before this call, if this is the leader."""
        if self._world.is_leader:
            self._rank.post(Flushed(self._next))

    def begin(self) -> None:
        """Do nothing: the host measures."""

    def look_again(self) -> None:
        """Do nothing: nobody waits here."""

    def _check_metadata(self, track: str, told: tuple[Any, ...]) -> None:
        try:
            self._rank.try_to_carry(told)
        except Exception as error:
            reason = (
                f"its metadata cannot leave its rank: {text_of(error)}; give plain values, or "
                "objects whose class stands at the top level of a module"
            )
            raise FrameError(track, reason) from error

    def _write(self, track: str, pictures: Pictures, shard: Shard | None) -> int:
        number = self._pictures[track]
        self._pictures[track] += 1
        if shard is not None and self._world.world_size > 1:
            shape, origin = place_of(track, shard, pictures.shape, self._world)
            self._rank.frames.place(
                track, pictures, shape=shape, origin=origin, picture=number, may_change=True
            )
        elif self._world.is_leader:
            self._rank.frames.place(track, pictures, picture=number, may_change=True)
        else:
            self._rank.frames.reserve(track, pictures.shape, "uint8", picture=number)
        return number
