"""ModelLife: the model from its import to its end, beside the port that answers all the while."""

import asyncio
import concurrent.futures
import contextlib
import gc
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reactor_runtime.announcements import announce, print_error
from reactor_runtime.busy_threads import IMPORT_THREAD, MODEL_THREAD, busy_threads
from reactor_runtime.clock import Clock
from reactor_runtime.errors import ConfigurationError
from reactor_runtime.exit_status import ExitStatus
from reactor_runtime.http.stage import Stage
from reactor_runtime.log import get_logger
from reactor_runtime.restarts import Restarts
from reactor_runtime.served_model import (
    ServedModel,
    import_web_rtc,
    make_served_model,
    web_rtc_settings,
)
from reactor_runtime.served_recordings import open_shelf, open_steps
from reactor_runtime.session.session import Session
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.settings import ServeSettings, check_device, import_served_class
from reactor_runtime.stop_signals import StopSignals

if TYPE_CHECKING:
    from reactor_runtime.recording.shelf import Shelf

HEAD_START_S = 0.25
PATIENCE_S = 2.0
PROGRESS_INTERVAL_S = 10.0
STOP_MARGIN_S = 2.0  # of the grace, kept for what follows the model's end

log = get_logger(__name__)


class ModelLife:
    """Imports, loads, serves and stops one model.

    Args:
        settings: What to serve, and how.
        stage: Where the session is shown to the routes.
        stop: Says when to end.
        clock: The time.
    """

    def __init__(
        self, settings: ServeSettings, stage: Stage, stop: StopSignals, clock: Clock
    ) -> None:
        self._settings, self._stage, self._stop, self._clock = settings, stage, stop, clock
        self._model: ServedModel | None = None
        self._shelf: Shelf | None = None
        self._was_ready = False
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run(self) -> ExitStatus:
        """Live until the signal, or until the model is lost; return which it was."""
        async with asyncio.TaskGroup() as tasks:
            life = tasks.create_task(self._live())
            asked = tasks.create_task(self._stop.wait())
            await asyncio.wait({life, asked}, return_when=asyncio.FIRST_COMPLETED)
            status = life.result() if life.done() else ExitStatus.STOPPED
            life.cancel()
            asked.cancel()
        if status is ExitStatus.STOPPED:
            announce("Stopping (a second signal forces)")
        self._stop.begin_grace()
        return await self._end(status)

    async def _live(self) -> ExitStatus:
        try:
            model_class = await self._import()
            self._shelf = open_shelf(self._settings, self._clock, self._stage.metrics)
            self._stage.recordings = self._shelf
            self._stage.steps = open_steps(self._settings, self._clock)
            self._model = self._make(model_class)
        except ConfigurationError as error:
            log.debug("model_import_failed", exc_info=error.__cause__ or error)
            print_error(error)
            return ExitStatus.WRONG_SETTINGS
        except TypeError as error:  # what the class declares cannot be; raised by the contract
            log.debug("model_contract_failed", exc_info=True)
            print_error(f"{self._settings.model_ref}: {error}")
            return ExitStatus.WRONG_SETTINGS
        await self._serve_for_good(self._model, model_class)
        return ExitStatus.MODEL_FAILED

    async def _serve_for_good(self, model: ServedModel, model_class: type[Any]) -> None:
        """Serve *model*, and others after it, until one is lost that has no successor."""
        restarts = Restarts(self._clock)
        delay_s = 0.0
        while True:
            reason = await self._serve(model, delay_s)
            may_restart = self._settings.on_failure == "restart" and self._was_ready
            next_delay_s = restarts.next_delay_s() if may_restart else None
            print_error(reason)
            if next_delay_s is None:
                return
            delay_s = next_delay_s
            try:
                successor = self._make(model_class)
            except ConfigurationError as error:  # the machine has changed: a device is gone
                print_error(error)
                return
            model = self._model = await self._replace(model, successor)
            announce(f"Starting the ranks again in {delay_s:g} s")

    async def _serve(self, model: ServedModel, delay_s: float) -> str:
        """Load and serve *model*, after *delay_s* seconds; return why it is lost."""
        model.session.on_terminated = self._lose
        self._stage.open(model.session)
        await asyncio.sleep(delay_s)
        await model.start()
        async with asyncio.TaskGroup() as tasks:
            loading = tasks.create_task(self._watch_loading(model.session))
            joining = tasks.create_task(self._join_network(model))
            reason = await self._lost
            loading.cancel()
            joining.cancel()
        return reason

    async def _replace(self, lost: ServedModel, new: ServedModel) -> ServedModel:
        """Show *new*, which is not loaded yet, in the place of *lost*, and let that go."""
        new.session.wiring.endings.follow(lost.session.wiring.endings)
        self._lost = asyncio.get_running_loop().create_future()
        self._stage.open(new.session)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.stop_grace_s or None):
                await lost.stop()
        return new

    async def _import(self) -> type[Any]:
        """Import the class on a thread, while the port says ``loading``."""
        settings = self._settings
        announce(f"Loading {settings.model_ref} …")

        def import_it() -> type[Any]:
            found = import_served_class(settings)
            check_device(settings)
            return found

        model_class: type[Any] = await _on_thread(import_it, IMPORT_THREAD)
        gc.enable()
        return model_class

    def _make(self, model_class: type[Any]) -> ServedModel:
        return make_served_model(
            model_class,
            self._settings,
            self._clock,
            self._stage.metrics,
            self._shelf,
            self._stage.steps,
        )

    async def _join_network(self, model: ServedModel) -> None:
        """Load WebRTC beside the model's own loading; then clients can connect.

        A model that loads in no time is not held up by it: whoever connects then waits instead.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEAD_START_S):
                await _until_ready(model.session)
        await _on_thread(import_web_rtc, f"{IMPORT_THREAD}-web-rtc")
        settings = web_rtc_settings(self._settings)
        signaling = model.join_network(settings, self._clock, self._stage.metrics)
        self._stage.connect(signaling)
        reason = signaling.no_network_reason()
        if reason is not None:
            log.warning("no_network", reason=reason)

    async def _watch_loading(self, session: Session) -> None:
        """Say how loading goes until it is done, and give up when it takes too long."""
        begun = self._clock.now()
        limit_s = self._settings.load_timeout_s or None
        try:
            async with asyncio.timeout(limit_s), asyncio.TaskGroup() as tasks:
                progress = tasks.create_task(self._tell_progress(begun))
                await _until_ready(session)
                progress.cancel()
        except TimeoutError:
            self._lose(f"{self._settings.model_ref} did not load within {limit_s:g} s")
            return
        self._was_ready = True
        took_s = self._clock.now() - begun
        if took_s > PATIENCE_S:
            gc.collect()  # a moment more is not noticed, and what is frozen is never freed
        gc.freeze()  # a full collection took 30 to 100 ms in mid-stream, more with torch
        announce(f"Ready after {took_s:.1f} s")

    async def _tell_progress(self, begun: float) -> None:
        while True:
            await asyncio.sleep(PROGRESS_INTERVAL_S)
            announce(f"Still loading ({self._clock.now() - begun:.0f} s)")

    def _lose(self, reason: str) -> None:
        if not self._lost.done():
            self._lost.set_result(reason)

    async def _end(self, status: ExitStatus) -> ExitStatus:
        """Stop what was made, within the grace; return *status*, or that something is stuck."""
        self._stage.begin_closing()
        grace_s = self._settings.stop_grace_s
        bound_s = max(grace_s / 2, grace_s - STOP_MARGIN_S) if grace_s > 0 else None
        try:
            if self._model is not None and self._model.session.state is not SessionState.CREATED:
                async with asyncio.timeout(bound_s):
                    await self._model.stop()
                if any(name.startswith(MODEL_THREAD) for name in busy_threads()):
                    status = status or ExitStatus.STUCK
        except TimeoutError:
            status = status or ExitStatus.STUCK
        finally:
            self._stage.close()
            if self._shelf is not None:
                self._shelf.close()
            if self._stage.steps is not None:
                self._stage.steps.close()
        if status is ExitStatus.STUCK:
            print_error("the model did not let go; its own clean-up was skipped")
        return status


async def _until_ready(session: Session) -> None:
    async for event in session.events.subscribe(0):
        if event.payload["to"] == SessionState.READY:
            return
    await asyncio.get_running_loop().create_future()  # closed: the end is told elsewhere


async def _on_thread(work: Callable[[], Any], name: str) -> Any:
    """Return what *work* returns on a daemon thread of its own; an executor would hold the exit."""
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the top of a thread; raised where awaited
            done.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(done)
