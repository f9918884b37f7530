"""Verbs: what a group can ask of every rank. Each is a frozen value that knows what to do there.

A host with a worker of its own adds verbs of its own; group and ranks need not know them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from reactor_runtime.distributed.frame_parts import ONLY_TRACK
from reactor_runtime.errors import FrameError

if TYPE_CHECKING:
    from reactor_runtime.distributed.rank import Rank


class OnError(Enum):
    """What an exception on a rank ends."""

    BREAK = "break"  # the group: ranks that stopped half-way are replaced, not repaired
    SETTLE = "settle"  # the call: the group lives if all ranks answer soon


class Verb(ABC):
    """One thing every rank does; subclasses are frozen dataclasses in an importable module.

    Attributes:
        phase: What the verb is called.
        on_error: What an exception on a rank ends.
        settle_s: Seconds the other ranks then have, where the group's own bound does not suit.
    """

    __slots__ = ()
    phase: ClassVar[str]
    on_error: ClassVar[OnError] = OnError.BREAK
    settle_s: ClassVar[float | None] = None

    @property
    def label(self) -> str:
        """What errors call this very call."""
        return self.phase

    @abstractmethod
    def run(self, worker: Any, rank: "Rank") -> object:
        """Do it with this rank's *worker*; what it returns is the reply's payload."""

    @staticmethod
    def salvage(worker: Any) -> object | None:
        """Return the payload of what was made before ``run`` raised; ``None`` if it is nothing."""
        return None


def values_of(verb: Verb) -> tuple[Any, ...]:
    """Return the fields of *verb* in order: they travel, and ranks know the class."""
    return tuple([getattr(verb, name) for name in _field_names(type(verb))])


def make_verb(kind: type[Verb], values: tuple[Any, ...]) -> Verb:
    """Return the verb of a class that has these fields."""
    verb = object.__new__(kind)
    for name, value in zip(_field_names(kind), values, strict=True):
        object.__setattr__(verb, name, value)  # its class is frozen
    return verb


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(found.name for found in fields(kind))


@dataclass(frozen=True, slots=True)
class Setup(Verb):
    """``worker.setup(**kwargs)``."""

    phase: ClassVar[str] = "setup"
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def run(self, worker: Any, rank: "Rank") -> None:
        """Call it."""
        worker.setup(**self.kwargs)


@dataclass(frozen=True, slots=True)
class Warmup(Verb):
    """``worker.warmup()``."""

    phase: ClassVar[str] = "warmup"

    def run(self, worker: Any, rank: "Rank") -> None:
        """Call it."""
        worker.warmup()


@dataclass(frozen=True, slots=True)
class StartSession(Verb):
    """``worker.start_session(params)``, with all generators seeded alike."""

    phase: ClassVar[str] = "start_session"
    on_error: ClassVar[OnError] = OnError.SETTLE
    params: Any
    seed: int

    def run(self, worker: Any, rank: "Rank") -> None:
        """Seed, and call it."""
        rank.seed(self.seed)
        worker.start_session(self.params)


@dataclass(frozen=True, slots=True)
class GenerateChunk(Verb):
    """``worker.generate_chunk(index, controls)``; the payload is the end row."""

    phase: ClassVar[str] = "generate_chunk"
    index: int
    controls: Any

    def run(self, worker: Any, rank: "Rank") -> int:
        """Call it and see to the frames it returns."""
        from reactor_runtime.distributed.pixels import is_pixels

        result = worker.generate_chunk(self.index, self.controls)
        if result is None:
            return 0
        if is_pixels(result):
            self._take_array(result, rank)
            return 0  # the part that was written says how far it goes
        return self._check_end_row(result, rank)

    @staticmethod
    def _take_array(pixels: Any, rank: "Rank") -> None:
        from reactor_runtime.distributed.pixels import dtype_of

        declared = rank.frames.declared(ONLY_TRACK)
        shape, dtype = tuple(pixels.shape), dtype_of(pixels)
        if declared is not None:
            wanted, wanted_dtype = declared
            if shape[1:] != wanted[1:] or len(shape) != len(wanted) or dtype != wanted_dtype:
                reason = f"a chunk is (frames, {', '.join(map(str, wanted[1:]))}) {wanted_dtype}"
                raise FrameError(ONLY_TRACK, reason, shape, dtype)
        elif len(shape) < 2:
            raise FrameError(ONLY_TRACK, "a chunk has frames as its first axis", shape, dtype)
        if rank.world.is_leader:
            rank.frames.place(ONLY_TRACK, pixels)
        else:
            rank.frames.offer(ONLY_TRACK, pixels)

    @staticmethod
    def _check_end_row(result: Any, rank: "Rank") -> int:
        try:
            end = int(result.__index__())
        except (AttributeError, TypeError):
            reason = f"generate_chunk returns frames, an end row or None, not {type(result)!r}"
            raise FrameError(ONLY_TRACK, reason) from None
        declared = rank.frames.declared(ONLY_TRACK)
        rows = declared[0][0] if declared is not None else 0
        if isinstance(result, bool) or not 0 <= end <= rows:
            reason = f"end row {result!r} is outside the buffer of {rows} frames"
            raise FrameError(ONLY_TRACK, reason)
        if end:
            rank.frames.claim(ONLY_TRACK)
        return end


@dataclass(frozen=True, slots=True)
class EndSession(Verb):
    """``worker.end_session()``."""

    phase: ClassVar[str] = "end_session"

    def run(self, worker: Any, rank: "Rank") -> None:
        """Call it."""
        worker.end_session()
