"""WorkerPoolHost: a model on N ranks, each a process, called in lockstep from one thread here."""

import asyncio
import concurrent.futures
from collections.abc import Mapping
from pathlib import Path

from reactor_runtime.busy_threads import MODEL_THREAD
from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.distributed.class_reference import refer_to
from reactor_runtime.errors import (
    HostClosedError,
    ModelLoadError,
    RankDesync,
    ReactorError,
    WorkerCrashed,
    WorkerError,
    WorkerGroupError,
    WorkerGroupStateError,
    WorkerTimeout,
)
from reactor_runtime.host.events import ModelEvent
from reactor_runtime.host.failures import authors_line, in_one_line
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, HostOutlet
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.host_thread import HostThread
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.host.outcome import overtake
from reactor_runtime.host.pool_parts import PoolParts
from reactor_runtime.host.pool_pump import PoolPump
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.rank_model import LoadModel
from reactor_runtime.host.rank_parts import LoadOrder
from reactor_runtime.host.rank_report_teller import named, told_cause
from reactor_runtime.log import get_logger
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.reactor_model import ReactorModel

log = get_logger(__name__)


class WorkerPoolHost(ModelHost):
    """Runs the same class on every rank of a world.

    Args:
        model_class: The author's class, at the top level of a module.
        outlet: Where the host reports.
        pool: The ranks.
        config_path: What ``load`` gets.
        clock: The time.
        settings: Deadlines, and what follows a failure.

    Raises:
        TypeError: The class declares something that makes no sense.
        WorkerGroupRefusedError: The ranks cannot be started like that.
    """

    def __init__(
        self,
        model_class: type[ReactorModel],
        *,
        outlet: HostOutlet,
        pool: PoolSettings = PoolSettings(),  # noqa: B008 - a frozen value
        config_path: Path | None = None,
        clock: Clock = SystemClock(),  # noqa: B008 - stateless
        settings: HostSettings = HostSettings(),  # noqa: B008 - a frozen value
    ) -> None:
        self._contract = ModelContract.of(model_class)
        self._settings = settings
        self._order = LoadOrder(
            model=refer_to(model_class),
            config_path=config_path,
            check_lockstep=pool.check_lockstep,
        )
        self._parts = PoolParts.make(
            pool,
            outlet,
            self._contract,
            clock=clock,
            settings=settings,
            wake=self._wake,
        )
        self._pump = PoolPump(self._parts)
        self._thread = HostThread(f"{MODEL_THREAD}{self._contract.name}")
        self._loaded: concurrent.futures.Future[None] = concurrent.futures.Future()

    @property
    def contract(self) -> ModelContract:
        """What the model's class declares."""
        return self._contract

    async def start(self) -> None:
        """Start the ranks; construct, load and warm up the model on each.

        Raises:
            ModelLoadError: The author's code raised, or a rank died; nothing is left running.
            HostClosedError: ``stop`` was called meanwhile.
        """
        self._loaded.set_running_or_notify_cancel()
        self._thread.start(self._live)
        await asyncio.wrap_future(self._loaded)

    def post(self, event: ModelEvent) -> None:
        """Queue *event*.

        Raises:
            HostClosedError: The host has failed or was stopped.
        """
        if self._parts.queue.post(event):
            self._parts.feed.forget()

    def withdraw(self, call_id: int) -> bool:
        """Take back a command that no rank has been told of."""
        return self._parts.queue.withdraw(call_id)

    def push_frame(self, track: str, frame: InputFrame) -> None:
        """Hand in one inbound frame."""
        self._parts.feed.push(track, frame)
        self._parts.calls.look_again()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ranks' processes."""
        return self._parts.group.pids

    def stacks(self) -> Mapping[str, str]:
        """Return what each rank is doing right now."""
        return {f"rank {rank}": stack for rank, stack in self._parts.group.stacks().items()}

    async def stop(self) -> None:
        """End what runs. Ranks that are stuck in author code are killed."""
        self._parts.gate.is_stopping = True
        self._wake()
        if not self._loaded.done() or not await self._thread.join(self._settings.stop_timeout_s):
            await self._kill()
        overtake(self._parts.queue, self._parts.outlet, "stopped")

    async def _kill(self) -> None:
        """End the ranks whatever they do; says what they did, unless they were only loading."""
        killer = HostThread(f"{self._contract.name}-stop")

        def kill() -> None:
            if self._loaded.done() and (stacks := self.stacks()):
                log.error("model_is_stuck", stacks=dict(stacks))
            self._parts.group.shutdown()

        killer.start(kill)
        await killer.join(None)
        await self._thread.join(None)

    def _live(self) -> None:
        """Load and run the model: the whole life of the host's thread."""
        parts = self._parts
        try:
            self._load()
        except BaseException as error:  # noqa: BLE001 - the top of a thread
            overtake(parts.queue, parts.outlet, "failed")
            parts.group.shutdown()
            self._loaded.set_exception(error)
            return
        self._loaded.set_result(None)
        try:
            self._pump.run()
            overtake(parts.queue, parts.outlet, "failed" if parts.teller.is_over else "stopped")
            self._pump.end()
        except BaseException as error:  # noqa: BLE001 - the top of a thread
            parts.stage.in_flight.close()
            self._lose(error)
        finally:
            parts.stage.in_flight.close()
            parts.group.shutdown()

    def _load(self) -> None:
        group = self._parts.group
        group.listeners.on_notice = self._parts.hear
        group.listeners.on_told = self._parts.stage.in_flight.start
        group.listeners.on_failure = lambda error: self._wake()
        if self._parts.gate.is_stopping:
            raise HostClosedError
        try:
            group.start((LoadModel(self._order),))
        except WorkerGroupStateError as error:
            raise HostClosedError from error
        except ReactorError as error:
            cause = told_cause(error) if isinstance(error, WorkerError) else error
            raise self._load_error(error) from cause
        self._parts.outlet.on_room(self._wake)

    def _load_error(self, error: ReactorError) -> ReactorError:
        """Return what ``start`` raises for what the group said."""
        cause = error.__cause__
        if isinstance(error, WorkerError) and isinstance(cause, ModelLoadError):
            everybody = len(error.ranks) == self._parts.group.world_size
            where = "" if everybody else f" (on {named(error.ranks)})"
            return ModelLoadError(cause.model, cause.phase, f"{cause.reason}{where}")
        phase = getattr(error, "phase", "load")
        return ModelLoadError(self._order.where, phase, f"{error}{authors_line(error)}")

    def _lose(self, error: BaseException) -> None:
        """Tell, once, that the ranks are lost."""
        parts, session = self._parts, self._parts.gate.session
        session_id = session.session_id if session else None
        if parts.gate.is_stopping and isinstance(error, WorkerGroupStateError):
            self._close(session_id)
            return
        overtake(parts.queue, parts.outlet, "the ranks are lost")
        kind, message = _told(error)
        if isinstance(error, WorkerTimeout):
            log.error(
                "turn_timed_out",
                session=session_id,
                seconds=error.timeout_s,
                ranks=_ranks_in(error),
                stacks=dict(error.stacks),
            )
        else:
            shown = told_cause(error) if isinstance(error, WorkerError) else error
            if isinstance(error, RankDesync):  # the ranks' own tracebacks are in its notes
                shown = error.with_traceback(None)
            log.error(
                f"{kind}_failed",
                exc_info=shown,
                session=session_id,
                ranks=_ranks_in(error),
                fatal=True,
            )
        parts.outlet.failed(
            HostFailure(
                kind=kind,
                session_id=session_id,
                message=message,
                fatal=True,
                cause=_cause(error),
            )
        )
        self._close(session_id)

    def _close(self, session_id: str | None) -> None:
        if session_id is not None:
            self._parts.teller.close(session_id)

    def _wake(self) -> None:
        self._pump.look_again()


def _ranks_in(error: BaseException) -> list[int]:
    """Return the ranks that an error of the group names."""
    if isinstance(error, WorkerError | RankDesync | WorkerTimeout):
        return list(error.ranks)
    return [error.rank] if isinstance(error, WorkerCrashed) else []


def _cause(error: BaseException) -> str:
    """Return in one line what operators read."""
    if isinstance(error, WorkerError):
        original = in_one_line(error.__cause__ or error)
        return f"rank {error.rank} raised during {error.phase}: {original}"
    if isinstance(error, WorkerGroupError):
        return str(error).splitlines()[0].removesuffix("; its last words:")
    return in_one_line(error)


def _told(error: BaseException) -> tuple[FailureKind, str]:
    if isinstance(error, WorkerTimeout):
        return FailureKind.STEP_TIMEOUT, "TimeoutError"
    if isinstance(error, WorkerError):
        return FailureKind.STEP, error.kind
    return FailureKind.HOST, type(error).__name__
