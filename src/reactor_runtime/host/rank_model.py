"""RankModel: the worker of a rank that runs an author's model, and the verbs it obeys."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from reactor_runtime.distributed.rank import Rank
from reactor_runtime.distributed.verbs import OnError, Verb
from reactor_runtime.host.author_loop import AuthorLoop, run_until_done, tell_of_end
from reactor_runtime.host.events import ModelEvent, name_of
from reactor_runtime.host.rank_loop import Order, RankLoop
from reactor_runtime.host.rank_messages import RankReply, TrackFrames
from reactor_runtime.host.rank_parts import LoadOrder, RankParts, load_on_rank
from reactor_runtime.host.rank_seat import RankSeat
from reactor_runtime.model.author_call import cancel
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.turn import Turn

_CLOSE_S = 5.0
_CLOSE_ROUND_S = 0.1


class RankModel:
    """Runs one author's model on the rank's main thread, in an asyncio loop of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._is_idle = False
        self._own: RankParts
        self._rank_loop: RankLoop
        self._life: asyncio.Task[None]

    def load(self, order: LoadOrder, rank: RankSeat) -> None:
        """Construct, load and warm up the model.

        Raises:
            ModelLoadError: The author's code raised.
        """
        contract = ModelContract.of(order.model.load())
        loop = AuthorLoop(self._loop)
        own = self._own = RankParts.make(contract, rank, self._loop)
        driver = load_on_rank(order, own, loop)
        self._rank_loop = RankLoop(own, self._loop)
        ready: asyncio.Future[None] = self._loop.create_future()
        self._life = self._loop.create_task(
            self._rank_loop.live(driver, order, ready), context=loop.context
        )
        run_until_done(self._loop, ready)

    def perform(self, order: Order, rank: RankSeat) -> RankReply:
        """Carry out *order*; where it waits for the host, all ranks do."""
        suspension = self._own.suspension
        done = self._rank_loop.give(order)
        while self._is_asking(done):
            given = rank.suspend(suspension.question())
            self._complete(suspension.answer(given))
        return done.result()

    def _is_asking(self, done: "asyncio.Future[RankReply]") -> bool:
        while True:
            with suppress(asyncio.CancelledError):  # author code cancels tasks it did not start
                return bool(self._complete(self._own.suspension.until_asking(done)))

    def call_from(self, channel: int) -> None:
        """Expect the group's calls on the open file *channel*."""
        self._loop.add_reader(channel, self._end_idling)

    def idle(self) -> None:
        """Let the author's tasks live on until the group calls."""
        self._is_idle = True
        while self._is_idle:
            try:
                self._loop.run_forever()
            except BaseException as error:  # noqa: BLE001 - a task of the author's exits
                tell_of_end(error)

    def salvage(self) -> RankReply:
        """Return what the last step had emitted and reported before it raised."""
        return self._rank_loop.salvage()

    def leave(self) -> None:
        """End the body."""
        self._rank_loop.leave()
        run_until_done(self._loop, self._life)

    def close(self) -> None:
        """Let go of the loop, where the process goes on without it."""
        until = self._loop.time() + _CLOSE_S
        while (tasks := asyncio.all_tasks(self._loop)) and self._loop.time() < until:
            for task in tasks:
                cancel(task)  # more than once: an order that is cancelled ends as that order
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=_CLOSE_ROUND_S))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        self._loop.close()

    def _end_idling(self) -> None:
        if self._is_idle:
            self._is_idle = False
            self._loop.stop()

    def _complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        return run_until_done(self._loop, self._loop.create_task(work))


@dataclass(frozen=True, slots=True)
class LoadModel(Verb):
    """Load the model."""

    phase: ClassVar[str] = "load"
    order: LoadOrder

    def run(self, worker: RankModel, rank: Rank) -> None:
        """Do it."""
        worker.load(self.order, rank)
        worker.call_from(rank.fileno())
        rank.while_idle = worker.idle


@dataclass(frozen=True, slots=True)
class ApplyEvents(Verb):
    """Apply events, in their order."""

    phase: ClassVar[str] = "apply"
    events: Sequence[ModelEvent]
    frames: Sequence[TrackFrames] = ()

    @property
    def label(self) -> str:
        """The events, where there are any."""
        return ", ".join(map(name_of, self.events)) or self.phase

    def run(self, worker: RankModel, rank: Rank) -> RankReply:
        """Do it."""
        return worker.perform(lambda loop: loop.apply(self.events, self.frames), rank)


@dataclass(frozen=True, slots=True)
class RunStep(Verb):
    """Let the body make one step."""

    phase: ClassVar[str] = "step"
    on_error: ClassVar[OnError] = OnError.SETTLE
    settle_s: ClassVar[float | None] = 0.5  # who waits for the one that raised waits for ever
    turn: Turn
    frames: Sequence[TrackFrames] = ()

    def run(self, worker: RankModel, rank: Rank) -> RankReply:
        """Do it."""
        return worker.perform(lambda loop: loop.step(self.turn, self.frames), rank)

    @staticmethod
    def salvage(worker: RankModel) -> RankReply:
        """Return what the step had emitted and reported before it raised."""
        return worker.salvage()


@dataclass(frozen=True, slots=True)
class FailSession(Verb):
    """End the session whose step failed on every rank."""

    phase: ClassVar[str] = "end_session"

    def run(self, worker: RankModel, rank: Rank) -> RankReply:
        """Do it."""
        return worker.perform(lambda loop: loop.fail(), rank)


@dataclass(frozen=True, slots=True)
class EndModel(Verb):
    """End the session, if there is one, and the body."""

    phase: ClassVar[str] = "end_session"
    reason: str

    def run(self, worker: RankModel, rank: Rank) -> RankReply:
        """Do it."""
        reply = worker.perform(lambda loop: loop.end(self.reason), rank)
        worker.leave()
        return reply
