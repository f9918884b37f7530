"""LiveOutlet: the outlet of a model that is served in process."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing

from reactor_runtime.errors import MessageTooLargeError
from reactor_runtime.host.frame_size import frame_bytes
from reactor_runtime.host.host_outlet import OutboundMessage, StepReport
from reactor_runtime.host.live_session import LiveSession
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.log import bind, get_logger
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.model.messages import ModelMessage, body_of, wire_name
from reactor_runtime.model.output import Output
from reactor_runtime.model.pace import checked_fps
from reactor_runtime.model.step import StepCompleted, together
from reactor_runtime.model.turn import Turn

log = get_logger(__name__)


class LiveOutlet:
    """Made on the thread of *loop*, the model's. Any may ``send``, ``flush`` and ``set_fps``."""

    def __init__(self, parts: LoopParts, loop: asyncio.AbstractEventLoop) -> None:
        self._outlet, self._emitter = parts.outlet, parts.emitter
        self._gate, self._turns = parts.gate, parts.turns
        self._loop = loop
        self._thread_id = threading.get_ident()
        self._warned_threads: set[str] = set()
        self._last: Output | None = None

    @property
    def pinned_fps(self) -> float | None:
        """The author's rate."""
        return self._emitter.pinned_fps

    async def emit(self, output: Output, *, compute_time: float | None, drop: bool) -> None:
        """Show *output*, from whatever loop this is called on."""
        if not isinstance(output, Output):
            raise TypeError(f"emit() takes an Output, not {type(output).__name__}")
        emission = self._emit(output, compute_time, drop)
        if threading.get_ident() == self._thread_id:  # or in a loop of the author's, in load()
            await emission
            return
        try:
            emission_there = asyncio.run_coroutine_threadsafe(emission, self._loop)
        except RuntimeError:  # the loop is closed: nobody serves this instance any more
            emission.close()
            return
        await asyncio.wrap_future(emission_there)

    def send(self, message: ModelMessage, client_id: str | None) -> None:
        """Pass on *message*; between sessions there is nobody to hear it.

        Raises:
            MessageTooLargeError: Nobody it is for takes so large a message.
        """
        if not isinstance(message, ModelMessage):
            raise TypeError(f"send() takes a ModelMessage, not {type(message).__name__}")
        if self._gate.session is not None:
            name, body = wire_name(type(message)), body_of(message)
            size, limit = frame_bytes(name, body), self._gate.occupancy.takes_bytes(client_id)
            if size > limit:
                raise MessageTooLargeError(size, limit, name)
            self._outlet.message(OutboundMessage(name=name, body=body, client_id=client_id))

    def flush(self) -> None:
        """Drop what was emitted before this call."""
        self._emitter.flush()
        call_soon(self._loop, self._emitter.look_again)

    def set_fps(self, fps: float) -> None:
        """Pin the rate.

        Raises:
            ValueError: *fps* is not a positive number.
        """
        self._emitter.pinned_fps = checked_fps(fps)
        self._outlet.set_fps(self._emitter.pinned_fps)

    async def complete_step(self, report: StepCompleted) -> None:
        """Record one finished step; one of a body without turns is reported at once.

        Raises:
            TypeError: *report* is none.
            ValueError: An earlier report of the same turn has a file of the same name.
        """
        if not isinstance(report, StepCompleted):
            raise TypeError(f"complete_step() takes a StepCompleted, not {type(report).__name__}")
        if report.output is not None and report.output is not self._last:
            await self.emit(report.output, compute_time=None, drop=False)
        self._last = None
        session = self._gate.session
        if self._turns.step is not None:
            self._turns.step.report = together(self._turns.step.report, report)
        elif session is not None:
            number, session.next_step = session.next_step, session.next_step + 1
            self._outlet.step_done(
                StepReport(
                    session_id=session.session_id,
                    number=number,
                    step_s=report.elapsed or 0.0,
                    apply_s=0.0,
                    wait_s=0.0,
                    idle=report.output is None,
                    is_last=session.count_step(),
                    error=error_text(report),
                    files=report.files,
                )
            )

    async def agree(self, refusal: str | None) -> str | None:
        """Return what this rank says: there is no other."""
        return refusal

    def refuse_step(self, reason: str) -> None:
        """Count a refused step and warn of the session's first."""
        session = self._gate.session
        if self._turns.step is not None:
            self._turns.step.refused = True
        if session is not None:
            session.refused += 1
            if session.refused == 1:
                log.warning("step_refused", reason=reason, session=session.session_id)

    async def turns(self) -> AsyncIterator[Turn | None]:
        """Yield a turn each time a step may run; what the body logs in it bears its session."""
        session: LiveSession | None = None
        async with aclosing(self._turns.turns()) as turns:
            async for turn in turns:
                if session is not self._gate.session:
                    session = self._gate.session
                    bind(session=session.session_id if session else None)
                yield turn

    def state_is_missed(self) -> None:
        """Warn once of an author's thread that looks at the state of no session."""
        thread = threading.current_thread()
        if thread.ident != self._thread_id and thread.name not in self._warned_threads:
            self._warned_threads.add(thread.name)
            log.warning("state_read_between_sessions", thread=thread.name)

    async def _emit(self, output: Output, compute_time: float | None, drop: bool) -> None:
        self._last = output
        if self._turns.step is not None:
            self._turns.step.shown += 1
        await self._emitter.emit(output, compute_time=compute_time, drop=drop)


def error_text(report: StepCompleted) -> str | None:
    """Return the error of *report* as text, safe for clients: an exception's type alone."""
    if report.error is None or isinstance(report.error, str):
        return report.error
    return type(report.error).__name__
