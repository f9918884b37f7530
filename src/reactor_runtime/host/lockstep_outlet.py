"""LockstepOutlet: the outlet of a model on one of several ranks."""

import asyncio
from typing import Any

from reactor_runtime.errors import OutsideTurnError
from reactor_runtime.host.live_outlet import LiveOutlet
from reactor_runtime.host.loop_parts import LoopParts
from reactor_runtime.host.suspension import Suspension
from reactor_runtime.host.turn_source import BodyState, TurnSource
from reactor_runtime.model.connected_event import ConnectedEvent
from reactor_runtime.model.output import Output
from reactor_runtime.model.step import StepCompleted
from reactor_runtime.world import World


class TurnGuard:
    """Knows whether what runs now runs on every rank alike: a handler, a hook or a step.

    Attributes:
        loop: The rank's.
    """

    def __init__(self, turns: TurnSource, loop: asyncio.AbstractEventLoop) -> None:
        self._turns, self.loop = turns, loop
        self._pump: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        """Note that the caller's task runs handlers and hooks from now on: the model has loaded."""
        self._pump = asyncio.current_task()

    def check(self, what: str) -> None:
        """Raise unless the caller is part of a turn, or the model still loads.

        Raises:
            OutsideTurnError: It is a thread, or a loop that asks for no turns.
        """
        if self._pump is None:
            return
        is_here = asyncio.get_running_loop() is self.loop
        is_turn = self._turns.state is BodyState.STEPPING or asyncio.current_task() is self._pump
        if not (is_here and is_turn):
            raise OutsideTurnError(what)


class LockstepOutlet(LiveOutlet):
    """Made on a rank's thread. Emissions are part of a turn; any thread may send and flush.

    Args:
        parts: The rank's.
        guard: Knows what is part of a turn.
        suspension: Where ranks agree.
        world: Which rank this is.
    """

    def __init__(
        self, parts: LoopParts, guard: TurnGuard, suspension: Suspension, world: World
    ) -> None:
        super().__init__(parts, guard.loop)
        self._guard, self._suspension, self._world = guard, suspension, world

    async def emit(self, output: Output, *, compute_time: float | None, drop: bool) -> None:
        """Show *output*.

        Raises:
            OutsideTurnError: No turn runs here: this is a thread, or a loop without ``turns()``.
            FrameError: A value cannot be a frame of its track.
        """
        self._guard.check("emit()")
        await super().emit(output, compute_time=compute_time, drop=drop)

    async def complete_step(self, report: StepCompleted) -> None:
        """Record one finished step.

        Raises:
            OutsideTurnError: A session is live and no turn runs here.
        """
        if self._gate.session is not None:
            self._guard.check("complete_step()")
        await super().complete_step(report)

    async def agree(self, refusal: str | None) -> str | None:
        """Return why any rank refuses the step."""
        return refusal if self._world.world_size == 1 else await self._suspension.agree(refusal)


class LockstepConnected(ConnectedEvent):
    """``self.connected`` on a rank: it may be looked at, and waited for in a turn only."""

    def __init__(self, guard: TurnGuard) -> None:
        super().__init__()
        self._guard = guard

    async def wait(self) -> bool:
        """Return ``True``.

        Raises:
            OutsideTurnError: No turn runs here.
            EndlessWaitError: This is a command or hook, and nobody is there.
        """
        self._guard.check("waiting for connected")
        return await super().wait()
