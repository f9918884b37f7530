"""RankParts: what a model on a rank is joined to, and its loading there."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from reactor_runtime.clock import SystemClock
from reactor_runtime.distributed.process_group import use_device
from reactor_runtime.host.author_loop import AuthorLoop
from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.inbound_frames import InboundFrames
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.lockstep_outlet import LockstepConnected, LockstepOutlet, TurnGuard
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.model_loading import load_model
from reactor_runtime.host.rank_emitter import RankEmitter
from reactor_runtime.host.rank_messages import InputGiven, TrackFrames
from reactor_runtime.host.rank_reports import RankReports
from reactor_runtime.host.rank_seat import RankSeat
from reactor_runtime.host.suspension import Suspension
from reactor_runtime.host.turn_source import TurnSource
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.log import bind
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputBuffer
from reactor_runtime.model.input_handles import input_buffers
from reactor_runtime.model.pace import class_fps
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.model.tracks import TrackDirection
from reactor_runtime.seeding import seed_all_generators
from reactor_runtime.world import World


class FoundClass(Protocol):
    """An author's class: where it stands, and itself."""

    @property
    def module(self) -> str:
        """The module it stands in."""
        ...

    @property
    def name(self) -> str:
        """Its name there."""
        ...

    def load(self) -> type[ReactorModel]:
        """Return it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOrder:
    """What a rank is to load.

    Attributes:
        model: Where the author's class is found.
        config_path: What ``load`` gets.
        check_lockstep: Whether replies carry digests of the state.
    """

    model: FoundClass
    config_path: Path | None
    check_lockstep: bool = False

    @property
    def where(self) -> str:
        """The class as ``module:Class``."""
        return f"{self.model.module}:{self.model.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankParts:
    """One of each.

    Attributes:
        parts: What the parts of a loop share, in process and here.
        contract: What the model's class declares.
        world: Which rank this is.
        reports: What is told to the host.
        guard: Knows what is part of a turn.
        emitter: Where emissions go.
        inbound: What clients sent.
        buffers: The model's input buffers by track; filled when the model is there.
        suspension: Where what only the host can give is waited for.
    """

    parts: LoopParts
    contract: ModelContract
    world: World
    reports: RankReports
    guard: TurnGuard
    emitter: RankEmitter
    inbound: InboundFrames
    buffers: dict[str, InputBuffer]
    suspension: Suspension

    @classmethod
    def make(cls, contract: ModelContract, rank: RankSeat, loop: asyncio.AbstractEventLoop) -> Self:
        """Return the parts of a model that *contract* describes, to be run in *loop*."""
        queue, clock, changed = EventQueue(lambda: None), SystemClock(), asyncio.Event()
        gate = Gate(queue)
        reports = RankReports(rank.post, is_leader=rank.world.is_leader)
        shown = {t.name: t for t in contract.tracks if t.direction is TrackDirection.OUT}
        emitter = RankEmitter(rank, shown, gate=gate)
        buffers: dict[str, InputBuffer] = {}
        inbound = InboundFrames(buffers, is_expected=lambda: True, on_unread=reports.unread)

        def on_input(given: InputGiven) -> None:
            take_in(buffers, given.frames)
            if given.is_closing:
                inbound.close()

        turns = TurnSource(changed.set)
        return cls(
            parts=LoopParts(
                outlet=reports,
                queue=queue,
                clock=clock,
                gate=gate,
                watch=TurnWatch(clock),
                turns=turns,
                emitter=emitter,
                changed=changed,
            ),
            contract=contract,
            world=rank.world,
            reports=reports,
            guard=TurnGuard(turns, loop),
            emitter=emitter,
            inbound=inbound,
            buffers=buffers,
            suspension=Suspension(on_input),
        )

    def take_in(self, frames: Sequence[TrackFrames]) -> None:
        """Let the model see *frames*."""
        take_in(self.buffers, frames)


def take_in(buffers: Mapping[str, InputBuffer], frames: Sequence[TrackFrames]) -> None:
    """Put *frames* into the buffers they are for; those of a closed one are for nobody."""
    for given in frames:
        buffer = buffers[given.track]
        if not buffer.closed:
            buffer.total_received += given.dropped
            buffer.dropped += given.dropped
        for frame in given.frames:
            buffer.push(frame)


def load_on_rank(order: LoadOrder, own: RankParts, loop: AuthorLoop) -> ModelDriver:
    """Return the driver of a model that is ready, joined to *own*.

    Raises:
        ModelLoadError: The author's code raised.
    """
    use_device(own.world.device)
    if not own.world.is_leader:  # what all ranks do alike is told once
        logging.getLogger("reactor_runtime.host").setLevel(logging.CRITICAL)
    outlet = LockstepOutlet(own.parts, own.guard, own.suspension, own.world)
    model = load_model(
        order.model.load(), loop, outlet=outlet, world=own.world, config_path=order.config_path
    )
    bind(session=None)  # loads structlog, which the first session would wait for
    vars(model)["_reactor_connected"] = LockstepConnected(own.guard)
    _join_buffers(model, own)
    if own.emitter.pinned_fps is None and (fps := class_fps(type(model))) is not None:
        outlet.set_fps(fps)
    return ModelDriver(
        model,
        own.contract,
        outlet,
        seed=seed_all_generators,
        log_failure=own.reports.log_failure,
    )


def _join_buffers(model: ReactorModel, own: RankParts) -> None:
    own.buffers.update(input_buffers(model))
    own.inbound.adopt(own.buffers)
    for buffer in own.buffers.values():
        buffer.while_starved = own.suspension.starved
        buffer.time_out = own.suspension.time_out
