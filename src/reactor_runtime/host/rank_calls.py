"""RankCalls: one verb to every rank of a model, and what they all say to it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.distributed.call_result import CallResult, CallTiming
from reactor_runtime.distributed.verbs import Verb
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import RankDesync
from reactor_runtime.host.agreement import check_alike
from reactor_runtime.host.frame_feed import FrameFeed
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.rank_messages import Agreed, InputGiven, WantsAgreement, WantsInput

_POLL_S = 1.0


class RankCalls:
    """Calls a group and gives its ranks, alike, what they wait for inside a call.

    Args:
        group: The ranks.
        feed: What clients sent.
        gate: Whether the session goes on.
        settings: The deadlines.
        clock: Measures the time-outs of reads.

    Attributes:
        is_warm: The first step, which may compile, is through.
        waited_s: Seconds the last call waited for input.
        timing: Where the rest of its time went.
    """

    def __init__(
        self,
        group: WorkerGroup,
        feed: FrameFeed,
        gate: Gate,
        *,
        settings: HostSettings,
        clock: Clock,
    ) -> None:
        self.is_warm = False
        self.waited_s = 0.0
        self.timing = CallTiming()
        self._group, self._feed, self._gate = group, feed, gate
        self._settings, self._clock = settings, clock
        self._news = threading.Event()

    def look_again(self) -> None:
        """Let a call that waits for input look whether it has come, from any thread."""
        self._news.set()

    def call(self, verb: Verb) -> CallResult:
        """Have every rank do *verb*.

        Raises:
            WorkerGroupError: A rank raised, died, was silent, or went another way.
        """
        self.waited_s = 0.0
        expiries: dict[int, float] = {}
        result = self._group.call(verb, self._limit_s)
        rounds = [result.timing]
        while result.is_suspended:
            given = self._answer(verb, result.payloads, expiries)
            result = self._group.resume(given, self._limit_s)
            rounds.append(result.timing)
        self.timing = _summed(rounds)
        self._agree(lambda: check_alike(where_of(verb), result.payloads))
        return result

    @property
    def _limit_s(self) -> float:
        settings = self._settings
        return settings.turn_timeout_s if self.is_warm else settings.first_turn_timeout_s

    def _agree(self, check: Callable[[], None]) -> None:
        try:
            check()
        except RankDesync as error:
            self._group.abandon(error)
            raise

    def _answer(
        self, verb: Verb, questions: Sequence[Any], expiries: dict[int, float]
    ) -> InputGiven | Agreed:
        if all(isinstance(question, WantsAgreement) for question in questions):
            refusals = [q.refusal for q in questions if q.refusal is not None]
            return Agreed(refusals[0] if refusals else None)
        self._agree(lambda: _check_waits(verb, questions))
        began = self._clock.now()
        for number, seconds in questions[0].timers:
            expiries.setdefault(number, began + seconds)
        due = {number: expiries[number] for number, _ in questions[0].timers}
        given = self._wait_for_input(due)
        self.waited_s += self._clock.now() - began
        return given

    def _wait_for_input(self, due: dict[int, float]) -> InputGiven:
        while True:
            self._news.clear()
            if self._gate.is_closing or not self._group.healthy:
                return InputGiven(is_closing=True)
            if frames := self._feed.take(self._gate):
                return InputGiven(frames=frames)
            now = self._clock.now()
            if expired := tuple(number for number, when in due.items() if when <= now):
                return InputGiven(expired=expired)
            self._news.wait(min((when - now for when in due.values()), default=_POLL_S))


def _summed(rounds: Sequence[CallTiming]) -> CallTiming:
    """Return the timing of a call of several rounds; the last one has what the ranks computed."""
    return CallTiming(
        broadcast_s=sum(each.broadcast_s for each in rounds),
        compute_s=rounds[-1].compute_s,
        collect_s=sum(each.collect_s for each in rounds),
        place_s=sum(each.place_s for each in rounds),
    )


def where_of(verb: Verb) -> str:
    """Return what errors call the call: a step with its turn."""
    turn = getattr(verb, "turn", None)
    return verb.label if turn is None else f"turn {turn.number}"


def _check_waits(verb: Verb, questions: Sequence[Any]) -> None:
    odd = tuple(rank for rank, q in enumerate(questions) if q != questions[0])
    if odd:
        kinds = "some ranks wait for input and others do not"
        alike = all(isinstance(question, WantsInput) for question in questions)
        raise RankDesync(where_of(verb), "ranks wait for different input" if alike else kinds, odd)
