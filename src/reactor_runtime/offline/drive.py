"""Drive: one rank's way through a script. Every rank goes it alike; none waits to be called."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from reactor_runtime.errors import OfflineRunError, RankDesync
from reactor_runtime.host.events import ModelEvent
from reactor_runtime.host.host_settings import IDLE_PAUSE_S, HostSettings
from reactor_runtime.host.rank_loop import Order, RankLoop
from reactor_runtime.host.rank_messages import RankReply
from reactor_runtime.host.rank_model import RankModel
from reactor_runtime.host.rank_parts import LoadOrder
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.model.turn import Turn
from reactor_runtime.offline.peers import Peers
from reactor_runtime.offline.script import Script
from reactor_runtime.offline.seat import OfflineSeat
from reactor_runtime.offline.stage import Stage

Replies = Sequence[RankReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """Carries out *script* on this rank, on one thread.

    Attributes:
        seat: Where the model sits.
        peers: The other ranks.
        stage: Where what it shows and says goes.
        watch: How long the author's code has been busy.
        settings: How long a model may refuse to step.
    """

    script: Script
    seat: OfflineSeat
    peers: Peers
    stage: Stage
    watch: TurnWatch
    settings: HostSettings

    def run(self, order: LoadOrder) -> None:
        """Load the model, make every turn, and end the session.

        Raises:
            Exception: The author's own.
            ModelLoadError: The model could not be loaded.
            OfflineRunError: A command was refused, or the model takes no turns.
            RankDesync: The ranks differ.
        """
        model = RankModel()
        try:
            with self._busy():
                model.load(order, self.seat)
            self._check_scripts()
            replies = self._call(model, "session", _apply(self.script.opening))
            for number in range(self.script.turns):
                replies = self._turn(model, number, replies)
            self._call(model, "end_session", lambda loop: loop.end("finished"))
            model.leave()
        except Exception as error:
            if self.stage.turn is not None and not isinstance(error, OfflineRunError):
                error.add_note(f"in turn {self.stage.turn} of an offline run")
            raise
        finally:
            model.close()

    def _turn(self, model: RankModel, number: int, replies: Replies) -> Replies:
        self.stage.turn = number
        phase, patience_s = f"turn {number}", self.settings.turn_timeout_s or float("inf")
        if calls := self.script.calls.get(number):
            replies = self._call(model, phase, _apply(calls))
        until = time.monotonic() + patience_s
        while not all(reply.is_asking for reply in replies):
            self._check_patience(until, "its run() asks for no turn; write it with self.turns()")
            replies = self._call(model, phase, _rest)
        while True:
            turn = Turn(number=number, time_s=self.peers.leaders(self.stage.seconds))
            replies = self._call(model, phase, _step(turn))
            steps = [reply.step for reply in replies if reply.step is not None]
            if not any(step.refused for step in steps):
                break
            self._check_patience(until, "process_input() refuses every step")
            time.sleep(IDLE_PAUSE_S)  # what it waits for may be a thread of its own
        if not any(step.shown for step in steps):
            self.stage.pass_time(IDLE_PAUSE_S)
        self.watch.first_step_is_over = True
        return replies

    def _call(self, model: RankModel, phase: str, order: Order) -> Replies:
        """Do *order* as all ranks do; returns what it came to on each."""
        with self._busy():
            reply = model.perform(order, self.seat)
        result = self.peers.exchange(phase, reply, self.seat.frames.take())
        self.stage.heed(reply.reports)
        self.stage.show(result)
        return result.payloads

    def _check_scripts(self) -> None:
        """Raise unless all ranks go the same way.

        Raises:
            RankDesync: They were given different scripts, or hash differently.
        """
        for what, own in (
            ("the turns, commands or seed differ", self.script.digest),
            ("text hashes differ: set PYTHONHASHSEED for all ranks", hash("reactor")),
        ):
            found = self.peers.gather(own)
            odd = tuple(rank for rank, each in enumerate(found) if each != found[0])
            if odd:
                raise RankDesync("load", what, odd)

    def _check_patience(self, until: float, reason: str) -> None:
        if time.monotonic() > until:
            waited_s = self.settings.turn_timeout_s
            raise OfflineRunError(self.stage.turn, f"{reason} (for {waited_s:g} s)")

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self.watch.begin()
        try:
            yield
        finally:
            self.watch.end()


def _apply(events: Sequence[ModelEvent]) -> Order:
    return lambda loop: loop.apply(events, ())


def _step(turn: Turn) -> Order:
    return lambda loop: loop.step(turn, ())


async def _rest(loop: RankLoop) -> RankReply:
    """Let a body in code of its own go on."""
    await asyncio.sleep(IDLE_PAUSE_S)
    return await loop.apply((), ())
