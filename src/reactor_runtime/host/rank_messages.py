"""What the host and its ranks say to each other, by direction. Frozen values, pickled.

A verb runs on every rank and is answered by a ``RankReply``. In between a rank may post notices,
and all of them together may ask for what only the host can give.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.distributed.messages import Failure
from reactor_runtime.host.host_outlet import CommandReply, FailureKind, OutboundMessage, StepReport
from reactor_runtime.model.input_buffer import InputFrame

Place = tuple[int, int]
"""Where an Output comes: how many verbs were before its own, how many Outputs before it in that."""

# --- host to rank ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackFrames:
    """What clients sent on one track since the last time.

    Attributes:
        track: The inbound track.
        dropped: Frames before these that the host had no room for.
        frames: The frames, oldest first.
    """

    track: str
    dropped: int = 0
    frames: tuple[InputFrame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InputGiven:
    """Answers ``WantsInput``, alike on all ranks.

    Attributes:
        frames: What has arrived.
        is_closing: Nothing more will come: reads that wait end.
        expired: Reads whose time is up.
    """

    frames: tuple[TrackFrames, ...] = ()
    is_closing: bool = False
    expired: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreed:
    """Answers ``WantsAgreement``: why the step is refused, ``None`` to go on."""

    refusal: str | None


# --- rank to host, while a verb waits --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WantsInput:
    """A read waits; *timers* are the reads that give up after so many seconds."""

    timers: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class WantsAgreement:
    """``process_input`` is through on this rank, and refused the step or did not."""

    refusal: str | None


# --- rank to host, at any time, from the leader ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """The author sent a message."""

    message: OutboundMessage


@dataclass(frozen=True, slots=True)
class Flushed:
    """The author dropped what was emitted so far: every Output of a place before *until*."""

    until: Place


@dataclass(frozen=True, slots=True)
class Paced:
    """The author pinned the rate."""

    fps: float


# --- rank to host, when a verb is done -------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorFailed:
    """An author's exception that ends nothing and is logged once."""

    event: str
    fields: Mapping[str, Any]
    error: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFailed:
    """An author's exception that ends the session."""

    kind: FailureKind
    session_id: str | None
    error: Failure


@dataclass(frozen=True, slots=True)
class SessionWentWell:
    """The session ended without a failure."""


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """``session_started`` has run."""

    session_id: str


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """``session_ended`` has run."""

    session_id: str


@dataclass(frozen=True, slots=True)
class FramesUnread:
    """Inbound frames that the model will never see."""

    track: str
    frames: int
    reason: str


Report = (
    CommandReply
    | AuthorFailed
    | SessionFailed
    | SessionWentWell
    | SessionOpened
    | SessionClosed
    | FramesUnread
    | StepReport
)
"""What happened in a verb, in order."""


class Emitted(NamedTuple):
    """One ``Output`` of a rank; its pixels lie in the shared frames.

    Attributes:
        place: Where it comes; that of the same Output of other ranks.
        pictures: Track name to the number of its picture in this step.
        shards: The tracks of which this rank wrote a part.
        audio: Track name to samples; the leader's count.
        metadata: Track name to one value per frame this rank emitted; the leader's count, and those
            of its part where it wrote one.
        compute_s: What the author said it took.
        drop: Drop it if there is no room.
    """

    place: Place
    pictures: Mapping[str, int]
    shards: frozenset[str] = frozenset()
    audio: Mapping[str, NDArray[np.int16]] = {}
    metadata: Mapping[str, tuple[Any, ...]] = {}
    compute_s: float | None = None
    drop: bool = False


class StepResult(NamedTuple):
    """What became of a step, as ``StepReport`` has it."""

    refused: bool = False
    shown: int = 0
    error: str | None = None
    files: Mapping[str, bytes] = {}


class RankReply(NamedTuple):
    """What every verb is answered with.

    Attributes:
        signature: What all ranks must have in common: each outcome, in order.
        reports: What happened; only the leader tells. Of other ranks, what failed.
        outputs: What was emitted.
        step: Of a step, what became of it.
        is_asking: The body waits for a turn.
        digests: Under ``check_lockstep``, what the public state came to, field by field.
    """

    signature: tuple[Any, ...] = ()
    reports: tuple[Report, ...] = ()
    outputs: tuple[Emitted, ...] = ()
    step: StepResult | None = None
    is_asking: bool = False
    digests: Mapping[str, str] = {}
