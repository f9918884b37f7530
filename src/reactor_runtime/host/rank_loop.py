"""RankLoop: what happens on one rank's loop, one order at a time.

The host decides what happens and when; here it is done, by the same parts that do it in process.
One task, the pump, carries out orders; another is the author's ``run()``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from reactor_runtime.errors import ModelLoadError, OutsideTurnError
from reactor_runtime.host.body import Body
from reactor_runtime.host.events import ModelEvent
from reactor_runtime.host.host_outlet import FailureKind
from reactor_runtime.host.live_outlet import error_text
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.rank_messages import RankReply, StepResult, TrackFrames
from reactor_runtime.host.rank_parts import LoadOrder, RankParts
from reactor_runtime.host.rank_reports import RankFailures
from reactor_runtime.host.session_life import SessionLife
from reactor_runtime.host.state_digest import StateDigest
from reactor_runtime.host.turn_source import BodyState, Step
from reactor_runtime.model.author_call import is_ours, outlive_cancellation
from reactor_runtime.model.turn import Turn

Order = Callable[["RankLoop"], Awaitable[RankReply]]
Given = tuple[Order, asyncio.Future[RankReply]]  # an order, and where its reply is awaited


class RankLoop:
    """The pump of one model on one rank.

    Args:
        own: What a rank's model is joined to.
        loop: The loop it lives in.
    """

    def __init__(self, own: RankParts, loop: asyncio.AbstractEventLoop) -> None:
        self._own, self._loop = own, loop
        self._orders: asyncio.Queue[Given | None] = asyncio.Queue()
        self._body: Body
        self._life: SessionLife
        self._came_to: StepResult | None = None  # the last step
        self._digests: Callable[[], Mapping[str, str]] | None = None

    def give(self, order: Order) -> "asyncio.Future[RankReply]":
        """Have *order* carried out, once the loop runs; the future is its result."""
        done: asyncio.Future[RankReply] = self._loop.create_future()
        self._orders.put_nowait((order, done))
        return done

    async def live(
        self, driver: ModelDriver, order: LoadOrder, ready: "asyncio.Future[None]"
    ) -> None:
        """Carry out orders until there is no further one; *ready* says when the first may come."""
        own = self._own
        own.guard.begin()
        try:
            if order.check_lockstep:
                self._digests = partial(StateDigest().of_model, driver.model)
            async with asyncio.TaskGroup() as group:
                self._body = Body(driver, own.parts.turns, group)
                self._life = SessionLife(
                    own.parts,
                    driver=driver,
                    body=self._body,
                    inbound=own.inbound,
                    failures=RankFailures(own.reports),
                )
                await self._body.start()
                if (refusal := self._refusal(order)) is None:
                    ready.set_result(None)
                    await self._carry_out_orders()
                else:
                    ready.set_exception(refusal)
                self._body.cancel()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    def leave(self) -> None:
        """Let ``live`` return once it has carried out what it was given."""
        self._orders.put_nowait(None)

    async def apply(self, events: Sequence[ModelEvent], frames: Sequence[TrackFrames]) -> RankReply:
        """Apply *events* in their order."""
        queue = self._own.parts.queue
        self._own.take_in(frames)
        await self._heed_failure()
        for event in events:
            queue.post(event)
        while (taken := queue.take(queue.mark)) is not None:
            await self._life.apply(taken)
            await self._heed_failure()
        return self._reply()

    async def step(self, turn: Turn, frames: Sequence[TrackFrames]) -> RankReply:
        """Let the body make a step.

        Raises:
            Exception: What the body raised; ``fail`` then ends the session.
        """
        parts, self._came_to = self._own.parts, None
        self._own.take_in(frames)
        parts.turns.hand_out(Step(turn=turn, began=parts.clock.now(), apply_s=0.0))
        while parts.turns.state is BodyState.STEPPING:
            parts.changed.clear()
            await _outlast(parts.changed.wait())
        step, parts.turns.step = parts.turns.step, None
        if step is not None:
            self._came_to = _result_of(step)
        if (failure := self._body.take_failure()) is not None:
            raise failure
        return self._reply(self._came_to)

    def salvage(self) -> RankReply:
        """Return what a step that raised had emitted and reported before."""
        return RankReply(outputs=self._own.emitter.take(), step=self._came_to)

    async def fail(self) -> RankReply:
        """End the session whose step failed on every rank, here or on the way to the host."""
        await self._life.fail_silently()
        return self._reply()

    async def end(self, reason: str) -> RankReply:
        """End the live session, if there is one."""
        await self._life.end(reason)
        return self._reply()

    async def _carry_out_orders(self) -> None:
        while (given := await self._next_order()) is not None:
            order, done = given
            try:
                done.set_result(await order(self))
            except BaseException as error:  # noqa: BLE001 - raised where the order was given
                done.set_exception(error)
            await outlive_cancellation()

    async def _next_order(self) -> Given | None:
        while True:
            try:
                return await self._orders.get()
            except asyncio.CancelledError as error:
                if is_ours(error):
                    raise
                await outlive_cancellation()  # author code cancels tasks it did not start

    async def _heed_failure(self) -> None:
        if (failure := self._body.take_failure()) is not None:
            await self._life.fail(FailureKind.STEP, failure)

    def _refusal(self, order: LoadOrder) -> ModelLoadError | None:
        """Return why the body cannot run in lockstep, where that shows at once."""
        failure = self._body.take_failure()
        if isinstance(failure, OutsideTurnError):
            return ModelLoadError(order.where, "run", str(failure))
        if failure is not None:
            self._own.reports.session_failed(FailureKind.STEP, None, failure)
        return None

    def _reply(self, step: StepResult | None = None) -> RankReply:
        own = self._own
        own.inbound.count()
        signature, reports = own.reports.take()
        return RankReply(
            signature=signature,
            reports=reports,
            outputs=own.emitter.take(),
            step=step,
            is_asking=own.parts.turns.state is BodyState.ASKING,
            digests=self._digests() if self._digests is not None else {},
        )


def _result_of(step: Step) -> StepResult:
    report = step.report
    return StepResult(
        refused=step.refused,
        shown=step.shown,
        error=error_text(report),
        files={name: bytes(content) for name, content in report.files.items()},
    )


async def _outlast(waiting: Awaitable[object]) -> None:
    """Return when *waiting* does, or when author code cancels tasks it did not start."""
    try:
        await waiting
    except asyncio.CancelledError as error:
        if is_ours(error):
            raise
        await outlive_cancellation()
