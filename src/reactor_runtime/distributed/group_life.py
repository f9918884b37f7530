"""GroupLife: a worker group from its start to its end, and the one failure in between."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from reactor_runtime.distributed.call_result import CallResult
from reactor_runtime.distributed.conductor import Conductor
from reactor_runtime.distributed.crew import Crew
from reactor_runtime.distributed.deadline import Deadline
from reactor_runtime.distributed.group_limits import GroupLimits
from reactor_runtime.distributed.group_start import GroupStart
from reactor_runtime.distributed.group_state import GroupEvent, GroupState, may, next_state
from reactor_runtime.distributed.roll_call import CallFailed
from reactor_runtime.distributed.shared_frame_buffer import SharedFrameBuffer
from reactor_runtime.distributed.teardown import Ending, end_descendants, end_ranks
from reactor_runtime.distributed.verbs import Verb
from reactor_runtime.distributed.worker_process import WorkerProcess
from reactor_runtime.errors import ReactorError, WorkerCrashed, WorkerError, WorkerGroupStateError
from reactor_runtime.log import get_logger

log = get_logger(__name__)
_AT_REST: Final = (GroupState.READY, GroupState.SUSPENDED)  # no thread is in a call


@dataclass(slots=True, kw_only=True)
class GroupListeners:
    """Who is told what happens beside calls.

    Attributes:
        on_failure: Gets the error that broke the group between calls, on the group's thread; the
            ranks have ended by then.
        on_notice: Gets what a rank says beside its answers, in its order and before an answer that
            came later, on whichever thread hears it: rank and payload.
        on_told: Called in a call, by its caller, once all ranks know what to do.
        log_fields: Added to every line a rank logs, for instance the session; see ``log_under``.
        empty_pipes: Logs what the ranks have written so far; the group's business.
    """

    on_failure: Callable[[ReactorError], None] | None = None
    on_notice: Callable[[int, Any], None] | None = None
    on_told: Callable[[], None] | None = None
    log_fields: Mapping[str, Any] = field(default_factory=dict)
    empty_pipes: Callable[[], None] | None = None

    def log_under(self, fields: Mapping[str, Any]) -> None:
        """Add *fields* to what ranks write from now on."""
        if self.empty_pipes is not None:
            self.empty_pipes()
        self.log_fields = fields

    def note_told(self) -> None:
        """Tell that all ranks know what to do."""
        if self.on_told is not None:
            self.on_told()

    def pass_on(self, rank: int, payload: Any) -> None:
        """Tell what *rank* said."""
        if self.on_notice is not None:
            self.on_notice(rank, payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    start: GroupStart
    crew: Crew
    conductor: Conductor


class GroupLife:
    """Keeps a group's state, and everything that must end with it.

    Args:
        ring: Where frames go.
        limits: How long to wait.
        listeners: Who is told what happens beside calls.

    Attributes:
        state: What the group is doing.
        failure: The error that broke it.
        endings: How each rank's process ended, once it has.
    """

    def __init__(
        self, ring: SharedFrameBuffer, limits: GroupLimits, listeners: GroupListeners
    ) -> None:
        self.state = GroupState.NEW
        self.failure: ReactorError | None = None
        self.endings: dict[int, Ending] = {}
        self._ring = ring
        self._limits = limits
        self._listeners = listeners
        listeners.empty_pipes = self._empty_pipes
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._is_to_stop = False
        self._running: _Running | None = None

    @property
    def processes(self) -> tuple[WorkerProcess, ...]:
        """The ranks' processes, while there are any."""
        return tuple(self._running.crew.processes) if self._running else ()

    def start(self, start: GroupStart, verbs: Sequence[Verb]) -> None:
        """Start the processes, construct the workers and have them do *verbs*.

        Raises:
            ReactorError: A rank failed; none is left.
            OSError: The machine has no more processes or open files; no rank is left.
        """
        with self._changed, ExitStack() as unless_begun:
            unless_begun.callback(start.close)
            if not may(self.state, GroupEvent.START):
                raise WorkerGroupStateError("start", self.state.value, "make a new one")
            crew = Crew(self._on_news, self._listeners.pass_on, start.environment.token)
            conductor = Conductor(crew, self._ring, self._limits, self._listeners.note_told)
            self._running = _Running(start=start, crew=crew, conductor=conductor)
            self._move(GroupEvent.START)
            unless_begun.pop_all()
        try:
            crew.start(start.spawns(lambda: self._listeners.log_fields))
            self._ring.prepare()
            self._make_ready(conductor, start, verbs)
        except BaseException as error:  # noqa: BLE001 - ranks may be in the middle of something
            self._fail(error)
        self._done(GroupEvent.DONE)

    def call(
        self, perform: Callable[[Conductor], CallResult], event: GroupEvent, name: str
    ) -> CallResult:
        """Run one call, or the rest of a suspended one, and return what it came to.

        Raises:
            ReactorError: It failed. Unless the state is ready again, the ranks have ended.
        """
        conductor = self._begin(event, name)
        try:
            result = perform(conductor)
        except BaseException as error:  # noqa: BLE001 - ranks may be in the middle of something
            self._fail(error, GroupEvent.DONE if event is GroupEvent.CALL else GroupEvent.SUSPEND)
        self._done(GroupEvent.SUSPEND if result.is_suspended else GroupEvent.DONE)
        return result

    def stop(self) -> None:
        """End a call in flight, then the ranks, and leave nothing behind. Idempotent."""
        with self._changed:
            self._is_to_stop = True
            busy = (GroupState.CALLING, GroupState.STARTING, GroupState.STOPPING)
            running = self._running  # a call that fails lets go of it at any moment
            if self.state in busy and running is not None:
                running.crew.wake()
            self._changed.wait_for(lambda: self.state not in busy)
            if self.state is GroupState.CLOSED:
                return
            was_ready = self.state is GroupState.READY
            self._move(GroupEvent.STOP)
        if self._running is not None:
            if was_ready:
                self._running.conductor.dismiss()
            self._end(self._limits.leave_s if was_ready else 0.0)
        with self._changed:
            self._move(GroupEvent.STOPPED)
            self._changed.notify_all()

    def abandon(self, error: ReactorError) -> None:
        """Break a group whose ranks are not alike any more; no call may be running."""
        with self._changed:
            if self.state not in _AT_REST:
                return
            self._move(GroupEvent.CALL if self.state is GroupState.READY else GroupEvent.RESUME)
        self._break(error)

    @property
    def _parts(self) -> _Running:
        if self._running is None:
            raise self.failure or WorkerGroupStateError(
                "a call", self.state.value, "start it first"
            )
        return self._running

    def _begin(self, event: GroupEvent, name: str) -> Conductor:
        with self._lock:
            if self.failure is not None:
                raise self.failure
            if self._is_to_stop or not may(self.state, event):
                raise WorkerGroupStateError(name, self.state.value)
            self._move(event)
            return self._parts.conductor

    def _done(self, event: GroupEvent) -> None:
        with self._lock:
            self.state = next_state(self.state, event)
            if self._is_to_stop:
                self._changed.notify_all()
            if self._parts.crew.inbox.has_news:  # of the time since the last answer
                self._parts.crew.look_at_news()

    def _make_ready(self, conductor: Conductor, start: GroupStart, verbs: Sequence[Verb]) -> None:
        deadline = Deadline.after(self._limits.load_s)
        conductor.launch(start.orders(), deadline)
        for verb in verbs:
            conductor.call(verb, deadline)

    def _fail(self, error: BaseException, before: GroupEvent | None = None) -> NoReturn:
        """Break the group because of *error*, but for one that changed nothing on any rank.

        Args:
            error: What was raised; the caller has the right to call.
            before: Leads back to the state before; ``None`` when there is no way back.
        """
        if not isinstance(error, CallFailed):
            self._break(error)
            raise error
        cause = error.error
        if before is not None and error.is_survivable:
            # A verb that raised is over on every rank, even one that had been suspended.
            self._done(GroupEvent.DONE if isinstance(cause, WorkerError) else before)
        else:
            self._break(cause)
        raise cause from cause.__cause__

    def _break(self, error: BaseException) -> None:
        """End every rank; the caller has the right to call."""
        if not isinstance(error, ReactorError):
            error = WorkerGroupStateError("a call", f"broken by {type(error).__name__}: {error}")
        self.failure = error
        self._end(0.0)
        with self._changed:
            self._move(GroupEvent.BREAK)
            self._changed.notify_all()

    def _end(self, patience_s: float) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        self.endings = end_ranks(running.crew.processes, patience_s)
        end_descendants(running.start.environment.token)
        running.crew.close()
        running.conductor.close()
        running.start.close()

    def _on_news(self) -> None:
        """See to a death between calls, on the crew's thread; in one, the caller does."""
        with self._changed:
            if self.state not in _AT_REST:
                return
            died = self._parts.crew.inbox.death
            if died is None:
                return
            phase = "idle" if self.state is GroupState.READY else "a suspended call"
            error = WorkerCrashed(died.rank, phase, died.exit_code, died.last_words)
            self.failure = error
            self._move(GroupEvent.BREAK)
            self._end(0.0)
            self._changed.notify_all()
        log.error("rank_died", rank=error.rank, phase=error.phase, exit_code=error.exit_code)
        if self._listeners.on_failure is not None:
            self._listeners.on_failure(error)

    def _empty_pipes(self) -> None:
        for process in self.processes:
            for output in process.outputs:
                output.drain_rest()

    def _move(self, event: GroupEvent) -> None:
        self.state = next_state(self.state, event)
