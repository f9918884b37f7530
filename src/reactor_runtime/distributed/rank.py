"""Rank: one process' end of a worker group, as verbs see it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reactor_runtime.distributed.failure_report import describe_failure
from reactor_runtime.distributed.messages import (
    Call,
    FromRank,
    Place,
    Reply,
    Resume,
    SlotNews,
    Suspended,
    ToRank,
)
from reactor_runtime.distributed.parcel import ParcelReader, try_to_carry
from reactor_runtime.distributed.rank_line import RankLine
from reactor_runtime.distributed.slot_writer import SlotWriter
from reactor_runtime.distributed.verbs import Verb, make_verb
from reactor_runtime.errors import WorkerGroupStateError
from reactor_runtime.seeding import seed_all_generators
from reactor_runtime.world import World


class Rank:
    """This process' place in the group: its frames, and its line to the group.

    Args:
        line: What joins it to the group.
        world: This rank's place.

    Attributes:
        world: This rank's place.
        frames: Where frames are written.
        while_idle: Called between calls; returns when the channel can be read.
    """

    def __init__(self, line: RankLine, world: World) -> None:
        self.world = world
        self.frames = SlotWriter(world.device)
        self._line = line
        self._reader = ParcelReader(shares=True)
        self._kinds: dict[int, type[Verb]] = {}
        self._call = 0
        self._verb: Verb | None = None
        self._kind: type[Verb] | None = None
        self.while_idle: Callable[[], None] | None = None
        self._worker: Any = None

    def fileno(self) -> int:
        """Return the channel's number: readable when ``receive`` will not wait."""
        return self._line.fileno()

    @property
    def phase(self) -> str:
        """What the current or last call asks for."""
        return self._kind.phase if self._kind is not None else ""

    def post(self, payload: object) -> None:
        """Say something to the group, from any thread, in or between calls."""
        self._line.say(payload)

    def try_to_carry(self, value: object) -> None:
        """Raise what answering with *value* would raise."""
        try_to_carry(value)

    def suspend(self, payload: object) -> Any:
        """Interrupt the running verb on all ranks until the group resumes it.

        Every rank must suspend at the same place. Only the verb's own thread may call this.

        Returns:
            What the group passed to ``resume``.
        """
        self.send(Suspended(self._call, payload))
        message = self.receive()
        if not isinstance(message, Resume) or message.number != self._call:
            raise WorkerGroupStateError("resume", type(message).__name__)
        return message.payload

    def seat(self, worker: Any) -> None:
        """Give *worker* its place in the world and its frames; its own methods are not touched."""
        self._worker = worker
        for name, value in {**self.world.attributes(), "frames": self.frames}.items():
            if not callable(getattr(worker, name, None)):
                setattr(worker, name, value)

    def seed(self, seed: int) -> None:
        """Seed this process' global generators and tell the worker."""
        self._worker.seed = seed
        seed_all_generators(seed)

    def begin(self, call: Call) -> None:
        """Take note of what *call* asks for."""
        kind = call.kind
        if isinstance(kind, tuple):
            self._kinds[kind[0]] = kind[1]
            kind = kind[0]
        verb = make_verb(self._kinds[kind], call.values)
        self._call, self._verb, self._kind = call.number, verb, type(verb)
        self._line.begin()
        self.frames.begin(call.slot)

    def perform(self, worker: Any) -> object:
        """Do the verb of the current call; afterwards nothing here keeps its contents."""
        verb, self._verb = self._verb, None
        assert verb is not None
        return verb.run(worker, self)

    def place(self, order: Place) -> None:
        """Write what waits for room into the slot of *order*, and answer."""
        with_offers = order.takes_offers_of == self.world.rank
        self.frames.place_waiting(order.slot, with_offers=with_offers)
        self.answer(None, 0.0)

    def answer(self, payload: object, compute_s: float) -> None:
        """Reply to the current call."""
        parts, needs = self.frames.finish()
        held = self._reader.held()
        self._line.answer(Reply(self._call, payload, parts, needs, held, compute_s))

    def fail(self, error: BaseException) -> None:
        """Tell that the current call raised *error*, and what it had made before."""
        payload = self._kind.salvage(self._worker) if self._kind is not None else None
        made = None
        if payload is not None:
            parts, needs = self.frames.finish()
            made = Reply(self._call, payload, parts, needs, self._reader.held())
        failure = describe_failure(error, self.phase)
        try:
            self._line.answer(replace(failure, made=made))
        except BaseException:  # noqa: BLE001 - author code may have changed what it made
            self._line.answer(failure)

    def send(self, message: FromRank) -> None:
        """Answer the group; from the thread that carries out its orders."""
        self._line.answer(message)

    def receive(self) -> ToRank:
        """Wait for the group; end the process when it is gone."""
        while True:
            message, files = self._reader.unpack(self._line.receive())
            if type(message) is not SlotNews:
                return message  # type: ignore[no-any-return]  # a pickle's type is not known
            for grant, file in zip(message.grants, files, strict=True):
                self.frames.adopt(grant, file)
            for number in message.gone:
                self.frames.retire(number)
