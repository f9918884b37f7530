"""PoolPump: what happens on the host's thread, one call of the ranks at a time.

    events ──► apply on all ranks ──► step on all ranks ──► apply …

It decides when; ``RankLoop`` does it, on every rank alike.
"""

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from reactor_runtime.distributed.call_result import CallResult
from reactor_runtime.errors import FrameError, RankDesync, WorkerError
from reactor_runtime.host.events import ModelEvent, SessionStarted
from reactor_runtime.host.host_outlet import FailureKind, RankTiming, StepReport
from reactor_runtime.host.host_settings import IDLE_PAUSE_S
from reactor_runtime.host.live_session import LiveSession
from reactor_runtime.host.occupancy import Occupancy
from reactor_runtime.host.pool_parts import PoolParts
from reactor_runtime.host.rank_calls import RankCalls
from reactor_runtime.host.rank_messages import RankReply, Report, SessionClosed, StepResult
from reactor_runtime.host.rank_model import ApplyEvents, EndModel, FailSession, RunStep
from reactor_runtime.host.rank_report_teller import told_cause
from reactor_runtime.log import get_logger
from reactor_runtime.model.turn import Turn

log = get_logger(__name__)

LONGEST_PAUSE_S = 0.1


class PoolPump:
    """Applies events and makes steps until stopped.

    Args:
        own: What a host of several ranks is made of.
    """

    def __init__(self, own: PoolParts) -> None:
        self._own = own
        self._changed = threading.Event()
        self._is_asking = False
        self._pause_s = IDLE_PAUSE_S
        self._not_before = 0.0
        self._apply_s = self._room_s = 0.0

    def run(self) -> None:
        """Work until stopped, or until a failure is fatal.

        Raises:
            WorkerGroupError: The ranks are lost.
        """
        self._call(ApplyEvents(()))
        while not self._is_over:
            self._changed.clear()
            self._check_ranks()
            delay_s = self._turn()
            if not self._is_over:
                if delay_s != 0.0:  # the ranks are not told to make the next step right now
                    self._own.stage.in_flight.start()
                self._changed.wait(delay_s)

    def end(self) -> None:
        """End the session and the body; what is pending is not applied any more.

        Raises:
            WorkerGroupError: The ranks are lost.
        """
        self._call(EndModel("stopped"))

    def look_again(self) -> None:
        """Take note of what came from other threads: events, input frames, room in the queue."""
        self._own.calls.look_again()
        self._own.stage.look_again()
        self._changed.set()

    @property
    def _is_over(self) -> bool:
        return self._own.teller.is_over or self._own.gate.is_stopping

    def _check_ranks(self) -> None:
        if (failure := self._own.group.failure) is not None:
            raise failure

    def _turn(self) -> float | None:
        """Do what there is to do; returns after how many seconds to look again."""
        self._apply_pending()
        if self._is_over:
            return None
        return self._offer()

    def _apply_pending(self) -> None:
        """Apply what is pending now; what comes meanwhile waits, so that no flood starves steps."""
        clock, began = self._own.clock, self._own.clock.now()
        mark = self._own.queue.mark
        applied = False
        while not self._is_over and (event := self._own.queue.take(mark)) is not None:
            self._apply(event)  # one at a time: no answer waits for another command
            applied = True
        if applied:
            self._apply_s += clock.now() - began

    def _apply(self, event: ModelEvent) -> None:
        own, gate = self._own, self._own.gate
        occupancy = gate.occupancy.after(event)
        if isinstance(event, SessionStarted):
            gate.session = LiveSession(
                session_id=event.session_id, began=own.clock.now(), steps_left=event.steps
            )
            own.group.listeners.log_under({"session": event.session_id})
        # What is held when everybody leaves is for whoever has come since.
        frames = () if gate.occupancy.drops_at(event) else own.feed.take(gate)
        if gate.session is not None:
            gate.occupancy = occupancy
        self._call(ApplyEvents((event,), frames))
        if gate.session is None:
            gate.occupancy = Occupancy()

    def _call(self, verb: ApplyEvents | RunStep | FailSession | EndModel) -> CallResult:
        own = self._own
        began = own.clock.now()
        result = own.calls.call(verb)
        replies = result.payloads
        self._is_asking = all(reply.is_asking for reply in replies)
        reports = replies[0].reports
        is_recorded = any(isinstance(report, StepReport) for report in reports)
        if not is_recorded:
            self._tell(reports)
        self._room_s = own.stage.show(result, began)
        if is_recorded:  # a step is shown before it is reported
            self._tell(reports)
        return result

    def _tell(self, reports: Sequence[Report]) -> None:
        own = self._own
        for report in reports:
            if isinstance(report, SessionClosed):  # what is of it must not come after it
                own.stage.in_flight.settle()
                own.group.listeners.log_under({})
            elif isinstance(report, StepReport):
                own.stage.in_flight.settle()
            own.teller.tell(report)

    def _offer(self) -> float | None:
        own, session = self._own, self._own.gate.session
        if session is None or not own.gate.is_open:
            return None
        if not self._is_asking:
            return self._poll()
        self._pause_s = IDLE_PAUSE_S
        allowed_at = own.outlet.step_at(own.stage.frames, own.stage.in_flight.frames)
        if allowed_at is None:
            return None
        begin_at, now = max(allowed_at, self._not_before), own.clock.now()
        if begin_at > now:
            return begin_at - now
        self._step(session, Turn(number=session.next_step, time_s=now - session.began))
        self._changed.set()
        return 0.0

    def _poll(self) -> float:
        """See whether a body that is in code of its own asks for a turn by now."""
        self._call(ApplyEvents((), self._own.feed.take(self._own.gate)))
        if self._is_asking:
            return 0.0
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        return self._pause_s

    def _step(self, session: LiveSession, turn: Turn) -> None:
        own, began = self._own, self._own.clock.now()
        own.outlet.step_begun(session.session_id, turn.number)
        try:
            result = self._call(RunStep(turn, own.feed.take(own.gate)))
        except WorkerError as error:
            self._step_failed(session, turn, began, error)
            return
        own.calls.is_warm = True
        step = result.payloads[0].step or StepResult()
        shown = _have_shown(result.payloads)
        if not shown:
            self._not_before = own.clock.now() + IDLE_PAUSE_S
        if not step.refused:
            session.next_step += 1
        self._report(session, turn, began, step, idle=not shown)

    def _step_failed(
        self, session: LiveSession, turn: Turn, began: float, error: WorkerError
    ) -> None:
        """End the session, on ranks that all raised alike; others are lost."""
        own = self._own
        made = () if error.made is None else error.made.payloads
        if error.made is not None:
            with suppress(FrameError, RankDesync):  # half an Output: what raised says more
                self._room_s = own.stage.show(error.made, began)
            own.stage.in_flight.settle()
        step = (made[0].step if made else None) or StepResult()
        step = step._replace(error=error.kind)
        self._report(session, turn, began, step, idle=not _have_shown(made))
        if not own.group.healthy or len(error.ranks) < own.group.world_size:
            own.group.abandon(error)
            raise error
        own.teller.fail(FailureKind.STEP, session.session_id, told_cause(error))
        self._call(FailSession())

    def _report(
        self, session: LiveSession, turn: Turn, began: float, step: StepResult, *, idle: bool
    ) -> None:
        own = self._own
        apply_s, self._apply_s = self._apply_s, 0.0
        counts = not step.refused and (not idle or bool(step.files) or step.error is not None)
        if counts and session.steps_left == 1:  # after the last step nothing counts any more
            own.stage.in_flight.settle()
        room_s, self._room_s = self._room_s, 0.0
        ranks = timing_of(own.calls, own.stage.in_flight.take_seconds(), room_s)
        if log.is_enabled_for(logging.DEBUG):
            log.debug("turn_timing", turn=turn.number, slowest=ranks.slowest, **asdict(ranks))
        own.outlet.step_done(
            StepReport(
                session_id=session.session_id,
                number=turn.number,
                step_s=own.clock.now() - began,
                apply_s=apply_s,
                wait_s=own.calls.waited_s + room_s,
                refused=step.refused,
                idle=idle,
                is_last=counts and session.count_step(),
                error=step.error,
                files=step.files,
                ranks=ranks,
            )
        )


def _have_shown(replies: Sequence[RankReply]) -> bool:
    return any(reply.step and reply.step.shown for reply in replies)


def timing_of(calls: RankCalls, copy_s: float, room_s: float) -> RankTiming:
    """Return where the time of the last call went."""
    return RankTiming(
        broadcast_s=calls.timing.broadcast_s,
        compute_s=calls.timing.compute_s,
        collect_s=calls.timing.collect_s,
        place_s=calls.timing.place_s,
        copy_s=copy_s,
        room_s=room_s,
    )
