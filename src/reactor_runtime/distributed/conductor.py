"""Conductor: one verb to every rank, one answer from each, and their frames in one slot."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reactor_runtime.distributed.call_result import (
    CallResult,
    CallTiming,
    Written,
    by_picture,
    widest,
)
from reactor_runtime.distributed.crew import Crew
from reactor_runtime.distributed.deadline import Deadline
from reactor_runtime.distributed.frame_parts import NeedsRoom, Part
from reactor_runtime.distributed.group_limits import GroupLimits
from reactor_runtime.distributed.messages import (
    Call,
    Exit,
    Launch,
    Place,
    Reply,
    Resume,
    SlotNews,
    Suspended,
)
from reactor_runtime.distributed.parcel import Parcel, ParcelWriter
from reactor_runtime.distributed.roll_call import CallFailed, RollCall
from reactor_runtime.distributed.shared_frame_buffer import SharedFrameBuffer
from reactor_runtime.distributed.verbs import OnError, Verb, values_of
from reactor_runtime.errors import RankDesync, ReactorError, WorkerError


class Conductor:
    """Speaks to all ranks of a crew alike. One call at a time; it keeps no state between calls.

    Args:
        crew: The ranks.
        ring: Where frames go.
        limits: How long to wait.
        on_told: Called when all ranks know what to do, before their answers are waited for.
    """

    def __init__(
        self,
        crew: Crew,
        ring: SharedFrameBuffer,
        limits: GroupLimits,
        on_told: Callable[[], None],
    ) -> None:
        self._crew = crew
        self._ring = ring
        self._limits = limits
        self._on_told = on_told
        self._writer = ParcelWriter()
        self._kinds: dict[type[Verb], int] = {}  # that all ranks know by number
        self._number = 0
        self._verb: Verb | None = None
        self._slot: int | None = None

    def launch(self, orders: Sequence[Launch], deadline: Deadline) -> None:
        """Tell every rank who it is; returns when all have constructed their worker.

        Raises:
            CallFailed: A rank could not.
        """
        for order in orders:
            self._crew.send(self._writer.pack(order), order.world.rank)
        self._writer.forget()  # what one rank was told lies in a block that no other has
        roll = RollCall(self._crew, "import")
        roll.collect(deadline, OnError.BREAK, self._limits.settle_s)

    def call(self, verb: Verb, deadline: Deadline, label: str = "") -> CallResult:
        """Have every rank do *verb*.

        Args:
            verb: What to do.
            deadline: Until when.
            label: What to call the frames while readers hold them.

        Raises:
            CallFailed: See ``RollCall``; the ranks differ; or, survivable and before anything was
                sent, there is no slot for frames, or the verb's contents do not pickle.
        """
        began = time.perf_counter()
        self._number, self._verb = self._number + 1, verb
        parcel = self._pack_call(verb)
        self._tell_of_slots()
        self._crew.send(parcel)
        return self._gather(deadline, label, began)

    def resume(self, payload: object, deadline: Deadline, label: str = "") -> CallResult:
        """Let the suspended verb go on; see ``call``."""
        began = time.perf_counter()
        try:
            parcel = self._writer.pack(Resume(self._number, payload))
        except Exception as error:
            raise CallFailed(error, is_survivable=True) from error
        self._crew.send(parcel)
        return self._gather(deadline, label, began)

    def dismiss(self) -> None:
        """Ask every rank to end."""
        self._crew.send(self._writer.pack(Exit()))

    def close(self) -> None:
        """Let go of shared memory; what readers hold stays whole."""
        self._writer.close()
        self._ring.close()

    def _pack_call(self, verb: Verb) -> Parcel:
        try:
            self._slot = self._ring.take()
            kind, values = self._kind_of(verb), values_of(verb)
            return self._writer.pack(Call(self._number, kind, values, self._slot))
        except Exception as error:
            raise CallFailed(error, is_survivable=True) from error

    def _tell_of_slots(self) -> None:
        grants, files, gone = self._ring.news()
        if grants or gone:
            self._crew.send(self._writer.pack(SlotNews(grants, gone), files))

    def _kind_of(self, verb: Verb) -> int | tuple[int, type[Verb]]:
        known = self._kinds.get(type(verb))
        return (len(self._kinds), type(verb)) if known is None else known

    def _gather(self, deadline: Deadline, label: str, began: float) -> CallResult:
        sent = time.perf_counter()
        self._on_told()
        try:
            answers = self._collect(deadline)
        except CallFailed as failed:
            if failed.made and isinstance(failed.error, WorkerError):
                result = CallResult(tuple([reply.payload for reply in failed.made]), CallTiming())
                failed.error.made = self._with_frames(result, failed.made, deadline, label)
            raise
        heard = time.perf_counter()
        if self._verb is not None and type(self._verb) not in self._kinds:
            self._kinds[type(self._verb)] = len(self._kinds)
        payloads = tuple([answer.payload for answer in answers])
        waiting = [type(answer) is Suspended for answer in answers]
        if True in waiting:
            if not all(waiting):
                raise self._desync("some ranks wait and others are done", waiting)
            return CallResult(payloads, CallTiming(sent - began, (), heard - sent), True)
        timing = CallTiming(sent - began, tuple([a.compute_s for a in answers]), heard - sent)
        result = CallResult(payloads, timing)
        self._writer.recycle([block for answer in answers for block in answer.held])
        if any(answer.parts or answer.needs for answer in answers):
            return self._with_frames(result, answers, deadline, label)
        return result

    def _collect(self, deadline: Deadline) -> list[Any]:
        assert self._verb is not None
        own_s = self._verb.settle_s
        settle_s = self._limits.settle_s if own_s is None else own_s
        roll = RollCall(self._crew, self._verb.label)
        answers = roll.collect(deadline, self._verb.on_error, settle_s)
        for answer in answers:
            if answer.number != self._number:
                stray = [each.number != self._number for each in answers]
                raise self._desync("an answer belongs to another call", stray)
        return answers

    def _with_frames(
        self, result: CallResult, answers: Sequence[Reply], deadline: Deadline, label: str
    ) -> CallResult:
        written = [(rank, part) for rank, reply in enumerate(answers) for part in reply.parts]
        began = time.perf_counter()
        has_needs = any(answer.needs for answer in answers)
        second = self._make_room(answers, written, deadline) if has_needs else []
        written += [(rank, part) for rank, reply in enumerate(second) for part in reply.parts]
        parts = self._agree(written)
        if self._slot is None or not parts:
            return result
        taken = [widest(ranks) for pictures in parts.values() for ranks in pictures]
        lease = self._ring.lend(self._slot, label or self._phase, taken)
        if second:
            timing = result.timing._replace(place_s=time.perf_counter() - began)
            result = result._replace(timing=timing)
        return result._replace(parts=parts, lease=lease)

    def _make_room(
        self, answers: Sequence[Reply], written: list[tuple[int, Part]], deadline: Deadline
    ) -> list[Reply]:
        """Have what waits in the ranks written into a larger slot; the second round of a call."""
        led = {part.track for rank, part in written if rank == 0}
        led |= {need.track for need in answers[0].needs}
        needs, offerer = _wanted(answers, led)
        if not needs:
            return []
        used = [part for _, part in written]
        try:
            self._slot = self._ring.room_for(needs, self._slot, used)
        except ReactorError as error:
            raise CallFailed(error) from error
        self._tell_of_slots()
        self._crew.send(self._writer.pack(Place(self._number, self._slot, offerer)))
        return self._collect(deadline)

    def _agree(self, written: Iterable[Written]) -> Mapping[str, tuple[tuple[Written, ...], ...]]:
        try:
            return by_picture(self._phase, written)
        except RankDesync as error:
            raise CallFailed(error) from error

    @property
    def _phase(self) -> str:
        return self._verb.label if self._verb is not None else ""

    def _desync(self, reason: str, odd: list[bool]) -> CallFailed:
        ranks = tuple(rank for rank, is_odd in enumerate(odd) if is_odd)
        return CallFailed(RankDesync(self._phase, reason, ranks))


def _wanted(answers: Sequence[Reply], led: set[str]) -> tuple[list[NeedsRoom], int | None]:
    """Return what must be written after all, and the rank whose offer is taken."""
    needs = [need for reply in answers for need in reply.needs if not need.offered]
    for rank, reply in enumerate(answers):
        offers = [need for need in reply.needs if need.offered and need.track not in led]
        if offers:
            return [*needs, *offers], rank
    return needs, None
