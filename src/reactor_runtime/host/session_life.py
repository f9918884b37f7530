"""SessionLife: what each event does to the session, the gate and the body, in which order."""

import asyncio

from reactor_runtime.host.body import Body
from reactor_runtime.host.events import (
    ClientJoined,
    CommandCalled,
    ModelEvent,
    SessionEnded,
    SessionStarted,
)
from reactor_runtime.host.failures import Failures
from reactor_runtime.host.host_outlet import FailureKind
from reactor_runtime.host.inbound_frames import InboundFrames
from reactor_runtime.host.live_session import LiveSession
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.occupancy import Occupancy
from reactor_runtime.host.outcome import OVERTAKEN, overtake, reply_to
from reactor_runtime.log import bind
from reactor_runtime.model.connected_event import connected_event


class SessionLife:
    """Used on the model's loop only, while no step runs.

    Attributes:
        is_over: A failure was fatal: no further session is served.
    """

    def __init__(
        self,
        parts: LoopParts,
        *,
        driver: ModelDriver,
        body: Body,
        inbound: InboundFrames,
        failures: Failures,
    ) -> None:
        self.is_over = False
        self._parts, self._gate, self._outlet = parts, parts.gate, parts.outlet
        self._driver, self._body, self._inbound = driver, body, inbound
        self._failures = failures
        self._connected = connected_event(driver.model)
        self._connected.told_by(asyncio.current_task())

    async def apply(self, event: ModelEvent) -> None:
        """Apply one event, to completion."""
        if isinstance(event, CommandCalled):
            await self._answer(event)
        elif isinstance(event, SessionStarted):
            await self._start(event)
        elif self._gate.session is not None:  # of a session that failed, the rest is ignored
            await self._apply_in_session(event)

    async def fail(self, kind: FailureKind, error: BaseException) -> None:
        """End the live session because of *error*: tell, clean up, in this order."""
        self._report(kind, error)
        await self.fail_silently()

    async def fail_silently(self) -> None:
        """End the live session because of an error that has been told."""
        await self._close_gate()
        await self._finish("error")

    async def end(self, reason: str) -> None:
        """End the live session, if there is one."""
        if self._gate.session is None:
            return
        if (failure := self._body.take_failure()) is not None:
            self._report(FailureKind.STEP, failure)
        await self._close_gate()
        if (error := self._body.take_failure()) is not None:  # no step: it only cleaned up
            self._driver.log_failure("closing_failed", error)
        if failure is None:
            self._failures.session_went_well()
        await self._finish(reason)

    async def _answer(self, call: CommandCalled) -> None:
        is_too_late = self._gate.session is None or self._gate.is_stopping
        outcome = OVERTAKEN if is_too_late else await self._driver.apply(call)
        if self._parts.queue.settle(call.call_id):
            self._outlet.reply(reply_to(call, outcome))

    async def _start(self, event: SessionStarted) -> None:
        await self.end("superseded")
        if self._gate.is_stopping:
            return
        bind(session=event.session_id)  # to what handlers and hooks log
        self._gate.session = LiveSession(
            session_id=event.session_id,
            began=self._parts.clock.now(),
            steps_left=event.steps,
        )
        self._gate.occupancy = self._gate.occupancy.after(event)
        outcome = await self._driver.apply(event)
        if outcome.raised is not None:
            await self.fail(FailureKind.SESSION_START, outcome.raised)
            return
        self._outlet.session_opened(event.session_id)
        await self._body.start()

    async def _apply_in_session(self, event: ModelEvent) -> None:
        occupancy = self._gate.occupancy
        if isinstance(event, SessionEnded):
            if event.session_id == occupancy.session_id:
                await self.end(event.reason)
            return
        if occupancy.drops_at(event):
            await self._close_gate()
        self._gate.occupancy = occupancy.after(event)
        is_first = isinstance(event, ClientJoined) and not occupancy.is_open
        if is_first:
            self._inbound.open()
            self._parts.emitter.begin()
        await self._driver.apply(event)
        if is_first:
            self._connected.set()
            await self._body.resume()

    async def _close_gate(self) -> None:
        """Let nothing more be shown or read, and the body close what it holds."""
        self._connected.clear()
        self._gate.occupancy = self._gate.occupancy.without_clients()
        self._inbound.close()
        await self._body.let_go()

    async def _finish(self, reason: str) -> None:
        session = self._gate.session
        if session is not None:
            await self._driver.apply(SessionEnded(session_id=session.session_id, reason=reason))
            self._gate.session, self._gate.occupancy = None, Occupancy()
        if self.is_over:
            overtake(self._parts.queue, self._outlet, "failed")
        bind(session=None)
        if session is not None:
            self._outlet.session_closed(session.session_id)

    def _report(self, kind: FailureKind, error: BaseException) -> None:
        session_id = self._gate.session.session_id if self._gate.session else None
        self.is_over = self._failures.tell(kind, session_id, error) or self.is_over
