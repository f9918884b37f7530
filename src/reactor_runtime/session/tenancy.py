"""Tenancy: the sequences of the occupied time. A model loads; sessions begin, end and fail."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.errors import (
    HostClosedError,
    ModelLoadError,
    SessionStateError,
    SessionUnavailableError,
    StartRefusedError,
)
from reactor_runtime.host.events import SessionEnded
from reactor_runtime.host.host_outlet import (
    CommandReply,
    HostFailure,
    OutboundMessage,
)
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.log import get_logger, mark
from reactor_runtime.session.audience import Audience
from reactor_runtime.session.farewells import REASON_CHARS, farewell
from reactor_runtime.session.mailbox import HostClosed, HostOpened, HostReport, StepsDone
from reactor_runtime.session.media_stream import MediaStream
from reactor_runtime.session.request_bodies import StartBody
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_state import EndReason, SessionEvent, SessionState
from reactor_runtime.session.starting_input import STARTER, StartingCall
from reactor_runtime.session.tenure import Tenure
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say

log = get_logger(__name__)

_ON_ITS_WAY_S = 0.1  # from a picture's time to its packets: encoding
_SHUTTING_DOWN = "the server is shutting down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outward:
    """What the outside asked to be told; both may be absent.

    Attributes:
        session_ended: Awaited with a reason at the end of every session.
        terminated: Called with a reason when no session can be served any more.
    """

    session_ended: Callable[[str], Awaitable[None]] | None = None
    terminated: Callable[[str], None] | None = None


class Tenancy:
    """Runs the sequences, and hears the host. One session at a time.

    Args:
        host: Where the model runs.
        audience: Who is here.
        course: Where the session is.
        outlet: Where the host is heard; knows the output media, cleared after each session.
        wiring: Limits, time, figures and tasks.

    Attributes:
        outward: Who else is told.
        last_words: Why the last thing failed, empty when nothing has.
        is_loaded: Whether the model has been loaded.
        tenure: The session, from its start until it is cleared away; ``None`` between sessions.
    """

    def __init__(
        self,
        host: ModelHost,
        audience: Audience,
        course: SessionCourse,
        *,
        outlet: SessionOutlet,
        wiring: Wiring,
    ) -> None:
        self.outward = Outward()
        self.last_words, self.is_loaded = "", False
        self._host, self._audience, self._course = host, audience, course
        self._outlet, self._wiring = outlet, wiring
        self.tenure: Tenure | None = None

    # --- loading ---

    async def load(self) -> None:
        """Load the model: ready, or terminated."""
        self._outlet.bind(self, asyncio.get_running_loop())
        self._course.move(SessionEvent.INITIALIZING)
        began = self._wiring.clock.now()
        try:
            await self._host.start()
        except ModelLoadError as error:
            cause = error.__cause__
            log.error("model_load_failed", model=error.model, phase=error.phase, exc_info=cause)
            self._stay_empty(str(error))
            return
        except HostClosedError:  # stopped while it loaded: whoever stopped it knows
            return
        except Exception as error:  # top of a task: whoever waits for the model must be told
            log.exception("host_start_failed")
            self._stay_empty(f"the model host cannot start: {type(error).__name__}")
            return
        self.is_loaded = True
        took_s = self._wiring.clock.now() - began
        self._wiring.metrics.model_load.set(took_s)
        log.info("model_ready", seconds=round(took_s, 3))
        if self._course.state is SessionState.CREATED:
            self._course.move(SessionEvent.INITIALIZATION_SUCCESS)

    def _stay_empty(self, reason: str) -> None:
        if self._course.state is SessionState.CREATED:
            self._course.move(SessionEvent.INITIALIZATION_FAIL, reason=reason)
            self._terminated(reason)

    # --- a session ---

    async def begin(self, start: StartBody, calls: Sequence[StartingCall] = ()) -> None:
        """Start a session.

        Returns when ``session_started`` has run and *calls* have been applied, or after a bounded
        wait.

        Raises:
            StartRefusedError: The model refused one of *calls*; the session has ended.
            SessionStateError: It was stopped meanwhile.
            SessionUnavailableError: The host is lost, or the session failed at once.
        """
        tenure = Tenure.of(start, calls)
        self._course.move(SessionEvent.START_SESSION, params=start.for_record())
        self.tenure, self.last_words = tenure, ""
        self._wiring.endings.begin()
        self._wiring.metrics.sessions_started.inc()
        mark(session=tenure.session_id)
        log.info(
            "session_started",
            session=tenure.session_id,
            seed=tenure.seed,
            external_id=start.session_id,
        )
        try:
            tenure.post(self._host)
        except HostClosedError as error:
            self.evict(str(error))
        await _wait(tenure.settled, self._wiring.settings.start_wait_s)
        await _wait(tenure.starting.settled, self._wiring.settings.starting_input_wait_s)
        if tenure.starting.refusal is not None:
            entry, code, text = tenure.starting.refusal
            raise StartRefusedError(entry, f"{code}: {text}")
        if self.tenure is not tenure or not self._course.state.is_running:
            if not self.last_words:
                text = "the session was stopped as it started"
                raise SessionStateError(self._course.state, text)
            raise SessionUnavailableError(f"the session ended as it started: {self.last_words}")

    def end(
        self,
        reason: EndReason,
        *,
        told: str = "",
        notices: Sequence[say.Failure] = (),
    ) -> None:
        """End the running session: closing now, ready when all has been cleared away.

        Args:
            reason: Why, for the record.
            told: What clients read as the reason, instead.
            notices: What clients are told before that.
        """
        event = SessionEvent.TIMEOUT if reason is EndReason.TIMED_OUT else SessionEvent.STOP_SESSION
        told = told or reason.value
        self._wiring.endings.note(told[:REASON_CHARS], " ".join(each.message for each in notices))
        self._course.move(event, reason=reason.value, close_reason=told)
        self._wiring.metrics.sessions_ended.labels(reason.value).inc()
        closes = self._audience.dismiss(farewell(reason, told, notices))
        if self.tenure is not None:
            self.tenure.starting.settled.set()  # what is not applied by now never will be
            log.info("session_ending", session=self.tenure.session_id, reason=_for_log(reason))
            work = self._clear(self.tenure, reason, closes)
            self._wiring.tasks.spawn(work, "session_ending")

    def evict(self, reason: str, cause: str = "") -> None:
        """Serve no session any more: clients are told *reason*, then the outside *cause*."""
        if self._course.state is SessionState.TERMINATED:
            return
        was_running = self._course.state.is_running
        if was_running:
            self._wiring.endings.note(EndReason.ERROR.value, _failed(reason))
            self._wiring.metrics.sessions_ended.labels(EndReason.ERROR.value).inc()
        self._course.move(SessionEvent.EVICTION, reason=reason)
        log.error("session_terminated", session=self._session_id, reason=cause or reason)
        self.last_words = reason
        if self.tenure is not None:
            self.tenure.settled.set()
            self.tenure.starting.settled.set()
            self.tenure.vacated.set()
        failure = say.Failure(code="internal_error", message=_failed(reason))
        closes = self._audience.dismiss(farewell(EndReason.ERROR, notices=[failure]))
        work = self._vanish(reason, cause or reason, closes)
        self._wiring.tasks.spawn(work, "session_eviction")

    async def shut_down(self) -> None:
        """End the running session within ``shutdown_s``, then serve none any more. Idempotent."""
        if self._course.state.is_running:
            self.end(EndReason.EVICTED, told=_SHUTTING_DOWN)
        if self._course.state is SessionState.CLOSING:
            await self._course.reach(SessionState.READY, self._wiring.settings.shutdown_s)
        if self._course.state is not SessionState.TERMINATED:
            self.last_words = _SHUTTING_DOWN
            self._course.move(SessionEvent.EVICTION, reason=_SHUTTING_DOWN)

    # --- what the host says ---

    def hear(self, report: HostReport) -> None:
        """Take one report of the host."""
        match report:
            case OutboundMessage():
                if self._course.state.is_running:
                    self._audience.deliver(report)
            case CommandReply(client_id=client_id) if client_id == STARTER:
                self._starting_replied(report)
            case CommandReply():
                self._audience.answer(report)
            case HostFailure():
                self._fail(report)
            case HostOpened() | HostClosed():
                self._progress(report)
            case StepsDone():
                self._wiring.tasks.spawn(self._complete(report.session_id), "steps_done")

    def _progress(self, report: HostOpened | HostClosed) -> None:
        tenure = self.tenure
        if tenure is None or tenure.session_id != report.session_id:
            return
        tenure.settled.set()
        if isinstance(report, HostClosed):
            tenure.vacated.set()

    def _starting_replied(self, reply: CommandReply) -> None:
        if self.tenure is None or not self._course.state.is_running:
            return
        starting = self.tenure.starting
        starting.replied(reply, self._host)
        if starting.refusal is not None:
            entry, code, text = starting.refusal
            notice = say.Failure(code=code, message=f"{entry}: {text}")
            self.end(EndReason.START_REFUSED, notices=[notice])

    async def _complete(self, session_id: str) -> None:
        """End a session that has had all its steps, once the last one has been shown."""
        await _played_out(self._outlet.stream, self._wiring.clock)
        tenure = self.tenure
        if tenure is None or tenure.session_id != session_id or not self._course.state.is_running:
            return
        steps = f"{tenure.steps} step{'' if tenure.steps == 1 else 's'}"
        self.end(EndReason.STOPPED, told=f"the session was to have {steps}: done")

    def _fail(self, failure: HostFailure) -> None:
        is_ours = failure.session_id is not None and failure.session_id == self._session_id
        if not failure.fatal and not is_ours:
            return
        self._course.note("error", message=failure.message)
        self.last_words = failure.message
        if failure.fatal:
            self.evict(failure.message, failure.cause)
        elif self._course.state.is_running and self.tenure is not None:
            self.tenure.settled.set()
            self.end(
                EndReason.ERROR,
                notices=[say.Failure(code="internal_error", message=_failed(failure.message))],
            )

    # --- clearing away ---

    async def _clear(
        self, tenure: Tenure, reason: EndReason, closes: Sequence[asyncio.Task[Any]]
    ) -> None:
        try:
            self._host.post(SessionEnded(session_id=tenure.session_id, reason=reason.value))
        except HostClosedError:
            tenure.vacated.set()
        await _let_go(closes, reason.value, self.outward, self._wiring)
        if not await _wait(tenure.vacated, self._wiring.settings.host_close_s):
            self.evict("the model did not end its session in time")
        if self._course.state is not SessionState.CLOSING:
            return
        if self._outlet.stream is not None:
            self._outlet.stream.reset()
        self.tenure = None
        log.info("session_ended", session=tenure.session_id, reason=_for_log(reason))
        mark(session=None)
        self._course.move(SessionEvent.CLEANUP_COMPLETE, reason=reason.value)

    async def _vanish(self, reason: str, cause: str, closes: Sequence[asyncio.Task[Any]]) -> None:
        await _let_go(closes, EndReason.ERROR.value, self.outward, self._wiring)
        if self._outlet.stream is not None:
            self._outlet.stream.reset()
        mark(session=None)
        self._terminated(reason, cause)

    def _terminated(self, reason: str, cause: str = "") -> None:
        self.last_words = reason
        if self.outward.terminated is not None:
            self.outward.terminated(cause or reason)

    @property
    def _session_id(self) -> str | None:
        return None if self.tenure is None else self.tenure.session_id


def _for_log(reason: EndReason) -> str:
    """Return *reason* for people: the protocol's word for a stop of the server says too much."""
    return "server_stopping" if reason is EndReason.EVICTED else reason.value


def _failed(what: str) -> str:
    return f"the session failed: {what}"


async def _let_go(
    closes: Sequence[asyncio.Task[Any]], reason: str, outward: Outward, wiring: Wiring
) -> None:
    """Wait, within a bound, until every connection is closed and the outside was told."""
    tasks = list(closes)
    if outward.session_ended is not None:
        work = _awaited(outward.session_ended(reason))
        tasks.append(wiring.tasks.spawn(work, "on_session_end"))
    if tasks:
        _, slow = await asyncio.wait(tasks, timeout=wiring.settings.connection_close_s)
        if slow:
            log.warning("connections_close_slowly", count=len(slow))


async def _played_out(stream: MediaStream | None, clock: Clock) -> None:
    """Return when everything queued has been shown and is on its way to the viewers."""
    while stream is not None and (end := stream.plays_until()) > clock.now():
        await clock.sleep_until(end)
    await clock.sleep_until(clock.now() + _ON_ITS_WAY_S)


async def _wait(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


async def _awaited(work: Awaitable[None]) -> None:
    await work
