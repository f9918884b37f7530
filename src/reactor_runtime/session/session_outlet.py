"""SessionOutlet: what a host reports to. Media goes to the stream, the rest to the event loop.

Messages, replies and failures cross to the loop through one mailbox. They are on their way before
``put`` of a later chunk returns, so clients hear them before they see that chunk.
"""

import asyncio
from collections.abc import Callable

from reactor_runtime.clock import Clock
from reactor_runtime.host.host_outlet import (
    Chunk,
    CommandReply,
    HostFailure,
    HostOutlet,
    OutboundMessage,
    RankTiming,
    StepReport,
)
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.mailbox import HostClosed, HostListener, HostOpened, Mailbox, StepsDone
from reactor_runtime.session.media_stream import MediaStream
from reactor_runtime.session.step_keeper import StepKeeper

MAX_QUEUED_MESSAGES = 10_000


class SessionOutlet(HostOutlet):
    """Implements ``HostOutlet`` for one model: called from the host's threads.

    Made before the host, bound to its listener before the host starts.

    Args:
        stream: Where chunks go; ``None`` for a model without output tracks, which has always room.
        clock: The time.
        metrics: Where steps and drops are counted.
        step_keeper: Who keeps the result of every step, if anybody.

    Attributes:
        last_step: What the newest step was, ``None`` before the first.
        stream: Where chunks go.
        step_keeper: Who keeps the result of every step, if anybody.
    """

    def __init__(
        self,
        stream: MediaStream | None,
        *,
        clock: Clock,
        metrics: Metrics,
        step_keeper: StepKeeper | None = None,
    ) -> None:
        self.last_step: StepReport | None = None
        self.step_keeper = step_keeper
        self.stream, self._clock, self._metrics = stream, clock, metrics
        self._mailbox = Mailbox()

    def bind(self, listener: HostListener, loop: asyncio.AbstractEventLoop) -> None:
        """Report to *listener* on *loop* from now on."""
        self._mailbox.bind(listener, loop)

    # --- media ---

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Return when a step making *frames* may start, ``None`` when the queue has no room."""
        return self._clock.now() if self.stream is None else self.stream.step_at(frames, coming)

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        return self.stream is None or self.stream.has_room(frames)

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback*, from any thread, whenever room may have appeared."""
        if self.stream is not None:
            self.stream.on_room(callback)

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Convert *chunk*, and queue it unless it is not *wanted* by then."""
        if self.stream is not None:
            self.stream.put(chunk, wanted)

    def dropped(self, chunk: Chunk) -> None:
        """Count a chunk that found no room."""
        if self.stream is not None:
            self.stream.note_dropped(chunk)

    def unread(self, track: str, frames: int, reason: str) -> None:
        """Count inbound frames that the model will never see."""
        self._metrics.input_dropped.labels(track, reason).inc(frames)

    def flush(self) -> None:
        """Drop everything queued and cut to black."""
        if self.stream is not None:
            self.stream.flush()

    def set_fps(self, fps: float) -> None:
        """Pin the rate and re-pace what is queued."""
        if self.stream is not None:
            self.stream.set_fps(fps)

    # --- what clients and the session hear ---

    def message(self, message: OutboundMessage) -> None:
        """Pass on a message; past ``MAX_QUEUED_MESSAGES`` undelivered ones it is dropped."""
        if len(self._mailbox) >= MAX_QUEUED_MESSAGES:
            self._metrics.messages_dropped.labels("author_too_fast").inc()
            return
        self._mailbox.post(message)

    def reply(self, reply: CommandReply) -> None:
        """Pass on the answer to one command."""
        self._mailbox.post(reply)

    def step_done(self, report: StepReport) -> None:
        """Count a finished step."""
        self.last_step = report
        metrics = self._metrics
        metrics.steps.labels(_outcome(report)).inc()
        metrics.step_seconds.observe(report.step_s)
        metrics.apply_seconds.observe(report.apply_s)
        metrics.wait_seconds.observe(report.wait_s)
        if report.ranks is not None:
            _count_ranks(metrics, report.ranks)
        if self.step_keeper is not None:
            self.step_keeper.step_done(report)
        if report.is_last:
            self._mailbox.post(StepsDone(session_id=report.session_id))

    def session_opened(self, session_id: str) -> None:
        """Note that ``session_started`` has run."""
        self._mailbox.post(HostOpened(session_id=session_id))

    def session_closed(self, session_id: str) -> None:
        """Note that ``session_ended`` has run."""
        self._mailbox.post(HostClosed(session_id=session_id))

    def failed(self, failure: HostFailure) -> None:
        """Note a failure."""
        self._mailbox.post(failure)


def _count_ranks(metrics: Metrics, ranks: RankTiming) -> None:
    metrics.rank_broadcast.observe(ranks.broadcast_s)
    metrics.rank_collect.observe(ranks.collect_s)
    metrics.rank_copy.observe(ranks.copy_s)
    metrics.rank_room.observe(ranks.room_s)
    metrics.rank_slowest.labels(str(ranks.slowest)).inc()
    for rank, seconds in enumerate(ranks.compute_s):
        metrics.rank_compute.labels(str(rank)).observe(seconds)


def _outcome(report: StepReport) -> str:
    if report.error is not None:
        return "error"
    if report.refused:
        return "refused"
    return "idle" if report.idle else "ok"
