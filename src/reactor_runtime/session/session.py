"""Session: the occupied time of one model, and everything that may happen in it.

This is the door: HTTP and transports come in here. What happens behind it is the business of
``tenancy`` (begin, end, fail), ``audience`` (who is here), ``vacancy`` (may a start have it) and
``session_timers`` (what time does).
"""

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.errors import NoSessionError, SessionStateError, UnknownSessionError
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.tracks import TrackDirection
from reactor_runtime.session.audience import Audience
from reactor_runtime.session.connection import Connection
from reactor_runtime.session.descriptor import SESSION_ID, make_descriptor
from reactor_runtime.session.endings import Endings
from reactor_runtime.session.event_log import EventLog
from reactor_runtime.session.publishers import Publishers
from reactor_runtime.session.recorder import Recorder
from reactor_runtime.session.request_bodies import read_start_body
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import EndReason, SessionState
from reactor_runtime.session.session_timers import SessionTimers
from reactor_runtime.session.starting_input import read_calls
from reactor_runtime.session.tally import Tally
from reactor_runtime.session.tenancy import Outward, Tenancy
from reactor_runtime.session.tenure import Tenure
from reactor_runtime.session.vacancy import Vacancy
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.task_set import TaskSet
from reactor_runtime.uploads.upload_store import UploadStore
from reactor_runtime.wire.channel import Channel

log = get_logger(__name__)

_CLOSE_TASKS_S = 2.0

_HEALTH_STATES = {
    SessionState.CREATED: "loading",
    SessionState.READY: "available",
    SessionState.TERMINATED: "terminated",
}


class Health(NamedTuple):
    """Whether the process is alive and what it is doing.

    Attributes:
        ok: The process works or is on its way to; false only when terminated.
        state: ``loading``, ``available``, ``serving`` or ``terminated``.
        detail: In plain words, for people.
    """

    ok: bool
    state: str
    detail: str


class Session:
    """One long-lived object: the state machine, who is connected, what may happen next.

    It implements ``ConnectionListener``. ``async with`` starts it (the model loads in the
    background) and closes it. Every method is called on the event loop.

    Args:
        host: Where the model runs; it must have been given *outlet*.
        outlet: What *host* reports to; it knows the output media.
        recorder: Who records the sessions, ``None`` for nobody.
        settings: Limits and delays.
        clock: The time.
        metrics: The figures of this server.

    Attributes:
        wiring: What its parts share: the files that clients send, who feeds which input.
        events: What happened, for operators.
        on_session_end: Awaited with a reason whenever a session ends, to close what still connects.
        on_terminated: Called once, with a reason, when no session can be served any more.
    """

    def __init__(
        self,
        host: ModelHost,
        *,
        outlet: SessionOutlet,
        recorder: Recorder | None = None,
        settings: SessionSettings | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.on_session_end: Callable[[str], Awaitable[None]] | None = None
        self.on_terminated: Callable[[str], None] | None = None
        self._host = host
        metrics = metrics or Metrics()
        settings, clock = settings or SessionSettings(), clock or SystemClock()
        self.wiring = wiring = Wiring(
            settings=settings,
            clock=clock,
            metrics=metrics,
            tally=Tally(metrics),
            uploads=UploadStore(settings.uploads, clock, metrics),
            publishers=Publishers(_inputs(host), clock, settings.publisher_lapse_s),
            tasks=TaskSet(),
            recorder=recorder,
            step_keeper=outlet.step_keeper,
            endings=Endings(),
        )
        self.events = EventLog(wiring.clock, wiring.settings.events_retained)
        self._course = course = SessionCourse(self.events, wiring)
        course.watch(lambda state: None if state.is_running else wiring.uploads.clear())
        if recorder is not None:
            course.watch(recorder.follow)
        if outlet.step_keeper is not None:
            course.watch(outlet.step_keeper.follow)
        self._audience = audience = Audience(host, course, wiring)
        self._tenancy = Tenancy(host, audience, course, outlet=outlet, wiring=wiring)
        self._vacancy = Vacancy(self._tenancy, audience, course, wiring)
        self._timers = SessionTimers(self._tenancy, audience, course, outlet=outlet, wiring=wiring)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    # --- life ---

    async def start(self) -> None:
        """Begin loading the model; returns at once, ``health`` tells how it goes."""
        self._tenancy.outward = Outward(
            session_ended=self.on_session_end, terminated=self.on_terminated
        )
        self._timers.start()
        self.wiring.tasks.spawn(self.wiring.uploads.sweep(), "sweep_uploads")
        self.wiring.tasks.spawn(self._tenancy.load(), "load_model")

    async def close(self) -> None:
        """End the session (clients told first), stop the host and every task. Idempotent."""
        await self._tenancy.shut_down()
        await self.wiring.uploads.close()
        await self.wiring.tasks.close(_CLOSE_TASKS_S)
        await self._host.stop()
        self.events.close()

    async def start_session(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Start a session and return its descriptor.

        Raises:
            StartRefusedError: The body asks for what cannot be given.
            SessionStateError: Another session is in the way, or this one was stopped meanwhile.
            SessionUnavailableError: The model is loading, or gone, or failed as it started.
        """
        start = read_start_body(body)
        calls = read_calls(start.starting_input, self._host.contract)
        async with self._vacancy.turn:
            await self._vacancy.make_room()
            await self._tenancy.begin(start, calls)
            if start.session_id:
                _name(start.session_id, self.wiring, self._tenancy.tenure)
            return self.descriptor()

    async def stop_session(self, reason: str = "", moderate: bool = False) -> None:
        """End the session; clients are told first.

        Raises:
            SessionStateError: There is nothing to stop, or it is closing already.
            SessionUnavailableError: The model is loading, or gone.
        """
        self._vacancy.check_available()
        if not self.state.is_running:
            raise SessionStateError(self.state, f"nothing to stop: the session is {self.state}")
        self._tenancy.end(EndReason.MODERATED if moderate else EndReason.STOPPED, told=reason)

    # --- what there is to know ---

    @property
    def state(self) -> SessionState:
        """The state the session is in."""
        return self._course.state

    def require(self, session_id: str) -> None:
        """Check that *session_id* names the running session.

        Raises:
            NoSessionError: None is running.
            UnknownSessionError: Another one is.
        """
        if not self.state.is_running:
            ending = self.wiring.endings.of_newest
            raise NoSessionError("" if ending is None else ending.detail)
        if session_id != SESSION_ID:
            raise UnknownSessionError(session_id)

    def descriptor(self) -> dict[str, Any]:
        """Return the session's descriptor, in any state."""
        contract = self._host.contract
        name = self.wiring.settings.model_name or contract.name
        tracks = contract.tracks if self._tenancy.is_loaded else None
        described = make_descriptor(
            self.state, name, tracks, self.wiring.recorder, self.wiring.endings
        )
        tenure = self._tenancy.tenure
        if self.wiring.step_keeper is not None:
            kept = {} if tenure is None else {"session_id": tenure.session_id}
            described["step_results"] = {"enabled": True, **kept}
        return described if tenure is None else described | tenure.describe()

    def schema(self) -> dict[str, Any]:
        """Return the model's OpenAPI document, empty until the model has loaded."""
        return self._audience.schema if self._tenancy.is_loaded else {}

    def health(self) -> Health:
        """Return whether the process is alive and what it is doing."""
        state = self.state
        return Health(
            ok=state is not SessionState.TERMINATED,
            state=_HEALTH_STATES.get(state, "serving"),
            detail=_words(state, self._tenancy.last_words),
        )

    # --- from connections ---

    def opened(self, connection: Connection) -> None:
        """A peer is connected and every channel it needs is open."""
        self._audience.join(connection)

    def received(self, connection: Connection, channel: Channel, frame: bytes | str) -> None:
        """One frame arrived. Never raises."""
        try:
            self._audience.receive(connection, channel, frame)
        except Exception:  # its transport must outlive what a client may send
            log.exception("frame_failed", client=connection.client_id)

    def media_received(self, connection: Connection, track: str, frame: InputFrame) -> None:
        """One decoded inbound frame arrived. Never raises, never blocks."""
        self._audience.feed(connection, track, frame)

    def wants_media(self, connection: Connection, track: str) -> bool:
        """Whether inbound frames of *track* from this connection are of use."""
        return self._audience.may_feed(connection, track)

    def failed(self, connection: Connection, reason: str) -> None:
        """An answered offer led to nothing: operators are told why."""
        self._course.note(
            "error", message=reason, conn_id=connection.connection_id, transport="webrtc"
        )

    def closed(self, connection: Connection, reason: str) -> None:
        """The connection is gone, whoever closed it."""
        self._audience.leave(connection, reason)


def _name(given: str, wiring: Wiring, tenure: Tenure | None) -> None:
    """Let what is kept of a session be found by the id that its starter gave it."""
    if tenure is None:  # it has failed as it began
        return
    if wiring.step_keeper is not None:
        wiring.step_keeper.name(tenure.session_id, given)
    if wiring.recorder is not None:
        wiring.recorder.name(given)


def _inputs(host: ModelHost) -> list[str]:
    """Return the names of the tracks that clients may feed."""
    return [each.name for each in host.contract.tracks if each.direction is TrackDirection.IN]


def _words(state: SessionState, last_words: str) -> str:
    if state is SessionState.TERMINATED and last_words:
        return last_words
    if state is SessionState.CREATED:
        return "the model is loading"
    failed = f"; the last one failed: {last_words}" if last_words else ""
    if state is SessionState.READY:
        return f"the model is ready, no session is running{failed}"
    return f"the session is {state.value}{failed}"
