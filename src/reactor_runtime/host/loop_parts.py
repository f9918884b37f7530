"""LoopParts: what the parts of a served model's loop share, made before the model is."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from reactor_runtime.clock import Clock
from reactor_runtime.host.emitter import Emissions, Emitter
from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.host_outlet import HostOutlet
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.turn_source import TurnSource
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.model.tracks import Track, TrackDirection


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """One of each.

    Attributes:
        outlet: Where the host reports.
        queue: What was posted.
        clock: The time.
        gate: Whether steps run and emissions count.
        watch: How long a turn has been busy.
        turns: Where the body gets its turns.
        emitter: Where its emissions go.
        changed: Set when the pump should look again.
    """

    outlet: HostOutlet
    queue: EventQueue
    clock: Clock
    gate: Gate
    watch: TurnWatch
    turns: TurnSource
    emitter: Emissions
    changed: asyncio.Event

    @classmethod
    def make(
        cls,
        outlet: HostOutlet,
        tracks: Sequence[Track],
        *,
        clock: Clock,
        on_post: Callable[[], None],
    ) -> Self:
        """Return the parts of a model with *tracks*; *on_post* hears of every posted event."""
        queue, changed, watch = EventQueue(on_post), asyncio.Event(), TurnWatch(clock)
        gate = Gate(queue)
        shown = {track.name: track for track in tracks if track.direction is TrackDirection.OUT}
        return cls(
            outlet=outlet,
            queue=queue,
            clock=clock,
            gate=gate,
            watch=watch,
            turns=TurnSource(changed.set),
            emitter=Emitter(outlet, shown, gate=gate, watch=watch, clock=clock),
            changed=changed,
        )
