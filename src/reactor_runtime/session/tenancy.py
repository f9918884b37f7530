"""Tenancy: the sequences of the occupied time. A model loads; sessions begin, end and fail."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from reactor_runtime.errors import (
    HostClosedError,
    ModelLoadError,
    SessionStateError,
    SessionUnavailableError,
)
from reactor_runtime.host.events import SessionEnded, SessionStarted
from reactor_runtime.host.host_outlet import (
    CommandReply,
    HostFailure,
    OutboundMessage,
)
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.log import get_logger, mark
from reactor_runtime.session.audience import Audience
from reactor_runtime.session.mailbox import HostClosed, HostOpened, HostReport
from reactor_runtime.session.request_bodies import StartBody
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_state import EndReason, SessionEvent, SessionState
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say

log = get_logger(__name__)

_REASON_CHARS = 64
_SHUTTING_DOWN = "the server is shutting down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenure:
    """One session, from its start to the host's word that it is over.

    Attributes:
        session_id: Its own id, for the host and the logs; never sent to clients.
        seed: What its random generators are seeded with.
        settled: Set when ``session_started`` has run, or the session has failed.
        vacated: Set when ``session_ended`` has run.
    """

    session_id: str
    seed: int
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    vacated: asyncio.Event = field(default_factory=asyncio.Event)


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
        self._tenure: Tenure | None = None

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
        except Exception as error:
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

    async def begin(self, start: StartBody) -> None:
        """Start a session; returns when ``session_started`` has run, or after a bounded wait.

        Raises:
            SessionStateError: It was stopped meanwhile.
            SessionUnavailableError: The host is lost, or the session failed at once.
        """
        seed = secrets.randbits(32) if start.seed is None else start.seed
        tenure = Tenure(session_id=uuid4().hex, seed=seed)
        params = start.model_dump(exclude_unset=True)
        self._course.move(SessionEvent.START_SESSION, params=params)
        self._tenure, self.last_words = tenure, ""
        self._wiring.endings.begin()
        self._wiring.metrics.sessions_started.inc()
        mark(session=tenure.session_id)
        log.info(
            "session_started", session=tenure.session_id, seed=seed, external_id=start.session_id
        )
        try:
            self._host.post(SessionStarted(session_id=tenure.session_id, seed=seed))
        except HostClosedError as error:
            self.evict(str(error))
        await _wait(tenure.settled, self._wiring.settings.start_wait_s)
        if self._tenure is not tenure or not self._course.state.is_running:
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
        self._wiring.endings.note(told[:_REASON_CHARS], " ".join(each.message for each in notices))
        self._course.move(event, reason=reason.value, close_reason=told)
        self._wiring.metrics.sessions_ended.labels(reason.value).inc()
        closes = self._audience.dismiss([*notices, _notice(reason, told)])
        if self._tenure is not None:
            log.info("session_ending", session=self._tenure.session_id, reason=reason.value)
            work = self._clear(self._tenure, reason, closes)
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
        if self._tenure is not None:
            self._tenure.settled.set()
            self._tenure.vacated.set()
        failure = say.Failure(code="internal_error", message=_failed(reason))
        closes = self._audience.dismiss([failure, _notice(EndReason.ERROR, "error")])
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
            case CommandReply():
                self._audience.answer(report)
            case HostFailure():
                self._fail(report)
            case HostOpened() | HostClosed():
                self._progress(report)

    def _progress(self, report: HostOpened | HostClosed) -> None:
        tenure = self._tenure
        if tenure is None or tenure.session_id != report.session_id:
            return
        tenure.settled.set()
        if isinstance(report, HostClosed):
            tenure.vacated.set()

    def _fail(self, failure: HostFailure) -> None:
        is_ours = failure.session_id is not None and failure.session_id == self._session_id
        if not failure.fatal and not is_ours:
            return
        self._course.note("error", message=failure.message)
        self.last_words = failure.message
        if failure.fatal:
            self.evict(failure.message, failure.cause)
        elif self._course.state.is_running and self._tenure is not None:
            self._tenure.settled.set()
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
        await self._close_connections(reason.value, closes)
        if not await _wait(tenure.vacated, self._wiring.settings.host_close_s):
            self.evict("the model did not end its session in time")
        if self._course.state is not SessionState.CLOSING:
            return
        if self._outlet.stream is not None:
            self._outlet.stream.reset()
        self._tenure = None
        log.info("session_ended", session=tenure.session_id, reason=reason.value)
        mark(session=None)
        self._course.move(SessionEvent.CLEANUP_COMPLETE, reason=reason.value)

    async def _vanish(self, reason: str, cause: str, closes: Sequence[asyncio.Task[Any]]) -> None:
        await self._close_connections(EndReason.ERROR.value, closes)
        if self._outlet.stream is not None:
            self._outlet.stream.reset()
        mark(session=None)
        self._terminated(reason, cause)

    async def _close_connections(self, reason: str, closes: Sequence[asyncio.Task[Any]]) -> None:
        tasks = list(closes)
        if self.outward.session_ended is not None:
            work = _awaited(self.outward.session_ended(reason))
            tasks.append(self._wiring.tasks.spawn(work, "on_session_end"))
        if tasks:
            _, slow = await asyncio.wait(tasks, timeout=self._wiring.settings.connection_close_s)
            if slow:
                log.warning("connections_close_slowly", count=len(slow))

    def _terminated(self, reason: str, cause: str = "") -> None:
        self.last_words = reason
        if self.outward.terminated is not None:
            self.outward.terminated(cause or reason)

    @property
    def _session_id(self) -> str | None:
        return None if self._tenure is None else self._tenure.session_id


def _failed(what: str) -> str:
    return f"the session failed: {what}"


def _notice(reason: EndReason, told: str) -> say.ServerMessage:
    if reason is EndReason.MODERATED:
        return say.Moderation(action="terminate", message=told)
    return say.SessionEnded(reason=told[:_REASON_CHARS])


async def _wait(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


async def _awaited(work: Awaitable[None]) -> None:
    await work
