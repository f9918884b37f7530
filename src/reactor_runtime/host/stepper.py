"""Stepper: when a step may begin, and what is reported when it has ended."""

from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.host.host_settings import IDLE_PAUSE_S
from reactor_runtime.host.live_outlet import error_text
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.turn_source import BodyState, Step
from reactor_runtime.model.turn import Turn


class Stepper:
    """Used on the model's loop only.

    Attributes:
        apply_s: Seconds that events have taken since the last step.
    """

    def __init__(self, parts: LoopParts) -> None:
        self.apply_s = 0.0
        self._parts = parts
        self._not_before = 0.0

    def offer(self) -> float | None:
        """Let the body make a step, if it asks for one and it is time.

        Returns:
            Monotonic seconds at which to offer again; ``None`` when only a change can help.
        """
        parts, session = self._parts, self._parts.gate.session
        if session is None or not parts.gate.is_open or parts.turns.state is not BodyState.ASKING:
            return None
        allowed_at = parts.outlet.step_at(parts.emitter.frames)
        if allowed_at is None:
            return None
        begin_at, now = max(allowed_at, self._not_before), parts.clock.now()
        if begin_at > now:
            return begin_at
        parts.watch.begin()
        parts.emitter.begin()
        turn = Turn(number=session.next_step, time_s=now - session.began)
        parts.turns.hand_out(Step(turn=turn, began=now, apply_s=self.apply_s))
        self.apply_s = 0.0
        parts.outlet.step_begun(session.session_id, turn.number)
        return None

    def finish(self) -> None:
        """Report the step that has ended, if one has."""
        turns, session = self._parts.turns, self._parts.gate.session
        if turns.step is None or turns.state is BodyState.STEPPING or session is None:
            return
        step, turns.step = turns.step, None
        watch, now = self._parts.watch, self._parts.clock.now()
        watch.end()
        watch.first_step_is_over = True
        if not step.shown:
            self._not_before = now + IDLE_PAUSE_S
        if not step.refused:
            session.next_step += 1
        report = step.report
        has_come_to_something = step.shown or report.files or report.error is not None
        counts = not step.refused and bool(has_come_to_something)
        self._parts.outlet.step_done(
            StepReport(
                session_id=session.session_id,
                number=step.turn.number,
                step_s=now - step.began,
                apply_s=step.apply_s,
                wait_s=watch.waited_s,
                refused=step.refused,
                idle=not step.shown,
                is_last=counts and session.count_step(),
                error=error_text(report),
                files=report.files,
            )
        )
