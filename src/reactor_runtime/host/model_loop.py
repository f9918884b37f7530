"""ModelLoop: what happens on the model's loop, one thing at a time.

    events ──► apply ──► step ──► apply ──► step …
                 ▲                  │
                 └── whenever no step runs, whatever the gate

One task, the pump, applies events and hands out turns; another is the author's ``run()``. The pump
applies nothing while a step runs. A body that takes no turns runs beside it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from reactor_runtime.host.body import Body
from reactor_runtime.host.failures import Failures
from reactor_runtime.host.host_outlet import FailureKind
from reactor_runtime.host.inbound_frames import InboundFrames
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.session_life import SessionLife
from reactor_runtime.host.stepper import Stepper
from reactor_runtime.host.turn_source import BodyState
from reactor_runtime.log import get_logger
from reactor_runtime.model.author_call import is_ours, outlive_cancellation
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.input_handles import input_buffers

log = get_logger(__name__)


class ModelLoop:
    """The pump of one loaded model. Used on its loop; frames come and go from any thread."""

    def __init__(self, parts: LoopParts, driver: ModelDriver, failures: Failures) -> None:
        self._parts, self._driver, self._failures = parts, driver, failures
        self._stepper = Stepper(parts)
        self._alarm: asyncio.TimerHandle | None = None
        buffers = input_buffers(driver.model)
        self._inbound = InboundFrames(
            buffers,
            is_expected=lambda: parts.queue.expects_clients,
            on_unread=parts.outlet.unread,
        )
        for buffer in buffers.values():
            buffer.while_starved = self._starved

    async def run(self) -> None:
        """Apply events and hand out turns until stopped; then end the session and the body."""
        parts = self._parts
        async with asyncio.TaskGroup() as group:
            body = Body(self._driver, parts.turns, group)
            life = SessionLife(
                parts,
                driver=self._driver,
                body=body,
                inbound=self._inbound,
                failures=self._failures,
            )
            await body.start()
            while not life.is_over and not (parts.gate.is_stopping and self._is_free):
                parts.changed.clear()
                if self._is_free:
                    await self._turn(body, life)
                await self._news()
            await self._apply_pending(body, life)
            await life.end("stopped")
            body.cancel()

    async def _news(self) -> None:
        """Wait for something to look at."""
        try:
            await self._parts.changed.wait()
        except asyncio.CancelledError as error:
            if is_ours(error):
                raise
            log.warning("model_loop_cancelled", cause="author code cancels tasks it did not start")
            await outlive_cancellation()

    def stop(self) -> None:
        """Let ``run`` return once the step that runs has ended."""
        self._parts.gate.is_stopping = True
        self.look_again()

    def look_again(self) -> None:
        """Take note of what came from other threads: events, input frames, room in the queue."""
        gate = self._parts.gate
        if gate.is_closing:
            self._inbound.close()  # a step that waits for input gets no more
        elif self._is_free or self._inbound.are_awaited:
            self._deliver()
        self._parts.emitter.look_again()
        self._parts.changed.set()

    def push_frame(self, track: str, frame: InputFrame) -> None:
        """Hold *frame* until the model may see it."""
        self._inbound.push(track, frame)

    def forget_frames(self) -> None:
        """Forget the frames held: whoever sent them is gone."""
        self._inbound.forget()

    @property
    def _is_free(self) -> bool:
        """Whether no step runs."""
        return self._parts.turns.state is not BodyState.STEPPING

    async def _turn(self, body: Body, life: SessionLife) -> None:
        self._stepper.finish()
        self._inbound.count()
        self._parts.watch.begin()
        await self._heed_failure(body, life)
        self._deliver()
        if len(self._parts.queue):
            await self._apply_pending(body, life)
            self._deliver()
        self._parts.watch.end()
        if life.is_over:
            self._parts.changed.set()
        else:
            self._look_again_at(self._stepper.offer())

    async def _apply_pending(self, body: Body, life: SessionLife) -> None:
        """Apply what is pending now; what comes meanwhile waits, so that no flood starves steps."""
        parts = self._parts
        mark, began = parts.queue.mark, parts.clock.now()
        while not life.is_over and (event := parts.queue.take(mark)) is not None:
            await life.apply(event)
            await self._heed_failure(body, life)
        self._stepper.apply_s += parts.clock.now() - began

    def _look_again_at(self, when_s: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if when_s is not None:
            delay_s, loop = when_s - self._parts.clock.now(), asyncio.get_running_loop()
            self._alarm = loop.call_later(delay_s, self._parts.changed.set)

    def _deliver(self) -> None:
        """Let the model see what clients sent."""
        self._inbound.deliver(lambda: self._parts.gate.is_open)

    async def _heed_failure(self, body: Body, life: SessionLife) -> None:
        if (failure := body.take_failure()) is not None:
            await life.fail(FailureKind.STEP, failure)

    @contextmanager
    def _starved(self) -> Iterator[None]:
        """Wait for input inside a step: what has arrived is delivered, nothing else is."""
        self._deliver()
        with self._parts.watch.waiting():
            yield
