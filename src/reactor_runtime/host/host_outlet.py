"""HostOutlet: where a host reports. The only thing a host knows of media and clients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What one ``emit`` shows, checked and in canonical layout.

    Attributes:
        video: Track name to uint8 RGB ``(T, H, W, 3)``; may be a view, read-only and of
            any strides.
        audio: Track name to int16 ``(channels, samples)`` at the track's own sample rate.
        metadata: Track name to one value per frame, ``None`` where there is none; of sound, to one.
        started_at: Monotonic seconds at which the step that made it began.
        compute_s: Seconds of compute it stands for, as the host measured or the author said.
        pinned_fps: The author's fps, ``None`` when the rate follows the measured one.
    """

    video: Mapping[str, NDArray[np.uint8]]
    audio: Mapping[str, NDArray[np.int16]]
    metadata: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    started_at: float
    compute_s: float
    pinned_fps: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """A message an author sent: *client_id* is ``None`` for a broadcast."""

    name: str
    body: Mapping[str, Any]
    client_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """The one answer to a ``CommandCalled``: a message, an error, or an empty acknowledgement."""

    call_id: int
    client_id: str
    message_name: str | None = None
    message_body: Mapping[str, Any] | None = None
    error_code: str | None = None
    error_message: str = ""


class FailureKind(StrEnum):
    """What broke, which decides what ends."""

    SESSION_START = "session_start"  # session_started raised: that session
    STEP = "step"  # a step raised: that session, then on_failure
    STEP_TIMEOUT = "step_timeout"  # in process a thread cannot be killed: the process
    HOST = "host"  # the host itself is lost: that session, then on_failure


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFailure:
    """A failure that ends the session; the host has logged the traceback already.

    Attributes:
        message: One line, safe for clients: the exception's type, never its text.
        fatal: The host serves no further session: the process must exit.
        cause: One line for operators: the exception, where it was raised, and what it ends.
    """

    kind: FailureKind
    session_id: str | None
    message: str
    fatal: bool = False
    cause: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTiming:
    """Where the time of a step on several ranks went, in seconds.

    Attributes:
        broadcast_s: Telling all ranks what to do.
        compute_s: The step itself, by rank, waits for input included.
        collect_s: From the last word to the ranks to the last answer.
        place_s: Making room for larger pictures; mostly 0.
        copy_s: Converting what they had emitted before, beside the step.
        room_s: Waiting for room in the queue.
    """

    broadcast_s: float
    compute_s: tuple[float, ...]
    collect_s: float
    place_s: float
    copy_s: float
    room_s: float

    @property
    def slowest(self) -> int:
        """The rank that computed longest."""
        return max(range(len(self.compute_s)), key=self.compute_s.__getitem__, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One finished step, for statistics and step limits.

    Attributes:
        session_id: The session it belongs to.
        number: Counts the session's steps from 0; a refused one takes no number.
        step_s: Seconds from its beginning to its end, waits included.
        apply_s: Seconds the events before it took.
        wait_s: Seconds of the step spent waiting for room or for input.
        refused: ``process_input`` refused it; it does not count towards a limit.
        idle: It showed nothing; unless something was put on record, it does not count either.
        is_last: With it the session has had all the steps it was to have: no further one begins.
        error: What its author put on record.
        files: Name to content, to be kept with its result.
        ranks: On ranks of their own, where the time went.
    """

    session_id: str
    number: int
    step_s: float
    apply_s: float
    wait_s: float
    refused: bool = False
    idle: bool = False
    is_last: bool = False
    error: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    ranks: RankTiming | None = None


class HostOutlet(Protocol):
    """Implemented by the session; called from the host's own thread, one call at a time.

    ``message``, ``flush`` and ``set_fps`` may also come from author threads, ``failed`` from the
    thread that watches the host's. No method blocks on a client.
    """

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Return the monotonic time from which a step making *frames* may start (the late gate).

        *coming* frames are on their way into the queue. ``None``: it has no room; ``on_room``
        callbacks fire when it may have.
        """
        ...

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        ...

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback*, from any thread, whenever room may have appeared."""
        ...

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Convert *chunk*, and queue it unless it is not *wanted* by then.

        On return the author may overwrite its arrays. *wanted* is asked in one step with the
        queueing, so that what a ``flush`` makes unwanted is not queued behind it.
        """
        ...

    def dropped(self, chunk: Chunk) -> None:
        """Note a chunk that found no room, of an author who will not wait."""
        ...

    def unread(self, track: str, frames: int, reason: str) -> None:
        """Note inbound frames that the model will never see."""
        ...

    def flush(self) -> None:
        """Drop everything queued and cut to black."""
        ...

    def set_fps(self, fps: float) -> None:
        """Pin the rate and re-pace what is queued."""
        ...

    def message(self, message: OutboundMessage) -> None:
        """Pass on a message, before any chunk put after it."""
        ...

    def reply(self, reply: CommandReply) -> None:
        """Pass on the answer to one command."""
        ...

    def step_begun(self, session_id: str, number: int) -> None:
        """Note that a step runs from now on. Nothing need be done: it counts when it is done."""
        return

    def step_done(self, report: StepReport) -> None:
        """Note a finished step."""
        ...

    def session_opened(self, session_id: str) -> None:
        """Note that ``session_started`` has run."""
        ...

    def session_closed(self, session_id: str) -> None:
        """Note that ``session_ended`` has run and the host is ready for the next session."""
        ...

    def failed(self, failure: HostFailure) -> None:
        """Note a failure; called before ``session_closed`` of the session it ends."""
        ...
