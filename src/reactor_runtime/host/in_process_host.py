"""InProcessHost: a world of one, on a thread of its own with an asyncio loop of its own."""

import asyncio
import concurrent.futures
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from reactor_runtime.busy_threads import MODEL_THREAD
from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.author_loop import AuthorLoop
from reactor_runtime.host.events import ModelEvent
from reactor_runtime.host.failure_policy import FailurePolicy
from reactor_runtime.host.failures import ToldFailures, in_one_line
from reactor_runtime.host.host_outlet import FailureKind, HostFailure, HostOutlet
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.live_outlet import LiveOutlet
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.host.model_loading import load_model
from reactor_runtime.host.model_loop import ModelLoop
from reactor_runtime.host.model_thread import ModelThread
from reactor_runtime.host.outcome import overtake
from reactor_runtime.host.watchdog import Watchdog
from reactor_runtime.log import get_logger
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.pace import class_fps
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.stacks import thread_stacks
from reactor_runtime.world import World

log = get_logger(__name__)


class InProcessHost(ModelHost):
    """Runs the model in this process, beside the loop that started it.

    Args:
        model_class: The author's class.
        outlet: Where the host reports.
        world: The place of this process; one of one.
        config_path: What ``load`` gets.
        clock: The time.
        settings: Deadlines, and what follows a failure.

    Raises:
        TypeError: The class declares something that makes no sense.
    """

    def __init__(
        self,
        model_class: type[ReactorModel],
        *,
        outlet: HostOutlet,
        world: World = World(),  # noqa: B008 - a frozen value
        config_path: Path | None = None,
        clock: Clock = SystemClock(),  # noqa: B008 - stateless
        settings: HostSettings = HostSettings(),  # noqa: B008 - a frozen value
    ) -> None:
        self._contract = ModelContract.of(model_class)
        self._settings = settings
        self._parts = LoopParts.make(outlet, self._contract.tracks, clock=clock, on_post=self._wake)
        self._load = partial(load_model, model_class, world=world, config_path=config_path)
        self._thread = ModelThread(f"{MODEL_THREAD}{self._contract.name}")
        self._loaded: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._loop: ModelLoop | None = None
        self._watchdog = Watchdog(
            self._parts.watch, settings, ping=self._thread.call, on_timeout=self._give_up_turn
        )
        self._wake_is_due = False

    @property
    def contract(self) -> ModelContract:
        """What the model's class declares."""
        return self._contract

    async def start(self) -> None:
        """Construct, load and warm up the model on its own thread.

        Raises:
            ModelLoadError: The author's code raised; nothing is left running.
            HostClosedError: ``stop`` was called meanwhile.
        """
        self._loaded.set_running_or_notify_cancel()  # the author's code runs to its end
        self._thread.start(self._live, self._on_thread_end)
        await asyncio.wrap_future(self._loaded)
        self._watchdog.start()

    def post(self, event: ModelEvent) -> None:
        """Queue *event*.

        Raises:
            HostClosedError: The host has failed or was stopped.
        """
        if self._parts.queue.post(event) and self._loop is not None:
            self._loop.forget_frames()

    def withdraw(self, call_id: int) -> bool:
        """Take back a command that has not begun."""
        return self._parts.queue.withdraw(call_id)

    def push_frame(self, track: str, frame: InputFrame) -> None:
        """Hand in one inbound frame."""
        if self._loop is not None:
            self._loop.push_frame(track, frame)
            self._wake()

    def stacks(self) -> Mapping[str, str]:
        """Return what the model's thread is doing right now."""
        stack = self._thread.stack()
        return {self._thread.name: stack} if stack else {}

    async def stop(self) -> None:
        """End what runs. A thread that is stuck in author code is given up, and said so."""
        self._watchdog.stop()
        if self._loop is not None:
            self._thread.call(self._loop.stop)
        else:
            self._thread.cancel()
        if not await self._thread.join(self._settings.stop_timeout_s):
            self._thread.cancel()
            if not await self._thread.join(1.0):
                log.error("model_is_stuck", stacks=dict(self.stacks()))
        self._close("stopped")

    def _live(self, loop: AuthorLoop) -> None:
        """Load and run the model: the whole life of its thread."""
        parts, outlet = self._parts, LiveOutlet(self._parts, loop.loop)
        model = self._load(loop, outlet=outlet)
        if parts.emitter.pinned_fps is None and (fps := class_fps(type(model))) is not None:
            outlet.set_fps(fps)
        driver = ModelDriver(model, self._contract, outlet)
        policy = FailurePolicy(self._settings.on_failure)
        self._loop = ModelLoop(parts, driver, ToldFailures(parts.outlet, policy))
        parts.outlet.on_room(self._wake)
        self._loaded.set_result(None)
        loop.complete(self._loop.run())

    def _on_thread_end(self, error: BaseException | None) -> None:
        self._close("stopped" if error is None else "failed")
        if not self._loaded.done():
            self._loaded.set_exception(error or HostClosedError())
        elif error is not None:
            log.critical("model_thread_failed", exc_info=error)
            cause = f"the model's thread failed: {in_one_line(error)}"
            self._fail(FailureKind.HOST, type(error).__name__, cause)

    def _give_up_turn(self, seconds: float) -> None:
        """End everything but the thread: it is stuck, and cannot be killed."""
        self._parts.gate.is_stopping = True
        taken_s, stacks = round(seconds, 1), {**thread_stacks(), **self.stacks()}
        log.error("turn_timed_out", session=self._session_id, seconds=taken_s, stacks=stacks)
        self._close("a turn timed out")
        cause = f"a turn did not end within {taken_s:g} s (turn_timeout); its stacks are in the log"
        self._fail(FailureKind.STEP_TIMEOUT, "TimeoutError", cause)
        if self._loop is not None:
            self._thread.call(self._loop.stop)

    def _close(self, reason: str) -> None:
        overtake(self._parts.queue, self._parts.outlet, reason)

    def _fail(self, kind: FailureKind, message: str, cause: str) -> None:
        self._parts.outlet.failed(
            HostFailure(
                kind=kind, session_id=self._session_id, message=message, fatal=True, cause=cause
            )
        )

    @property
    def _session_id(self) -> str | None:
        session = self._parts.gate.session
        return session.session_id if session else None

    def _wake(self) -> None:
        """Let the model's loop look again; many calls before it does cost one."""
        if self._loop is not None and not self._wake_is_due:
            self._wake_is_due = True
            self._thread.call(self._look_again)

    def _look_again(self) -> None:
        self._wake_is_due = False
        if self._loop is not None:
            self._loop.look_again()
