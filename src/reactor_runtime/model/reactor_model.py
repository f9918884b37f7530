"""ReactorModel: what an author subclasses. Steps, emissions, messages; no engine in it.

A host hands an instance its outlet with ``attach``. Everything of ours on an instance sits under
one prefix and is made when first needed, so that authors need not call ``super().__init__()`` and
may use any other name.
"""

import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from reactor_runtime.author_text import text_of
from reactor_runtime.errors import ApplicationError, BufferClosed, FrameError
from reactor_runtime.model.author_call import settle
from reactor_runtime.model.author_place import note_place
from reactor_runtime.model.class_rules import check_model_class
from reactor_runtime.model.connected_event import ConnectedAttribute
from reactor_runtime.model.idle import _IdleType
from reactor_runtime.model.input_handles import install_handles
from reactor_runtime.model.messages import ModelMessage
from reactor_runtime.model.outlet import Outlet, SilentOutlet
from reactor_runtime.model.output import Output
from reactor_runtime.model.output_stream import OutputAttribute
from reactor_runtime.model.step import StepCompleted, StepOutcome
from reactor_runtime.model.turn import Turn
from reactor_runtime.world import World


class StateAttribute:
    """Makes ``self.state`` ``None`` between sessions, and lets the host hear who looks then."""

    def __get__(self, model: "ReactorModel | None", owner: type) -> Any:
        if model is not None:
            model._reactor_outlet.state_is_missed()
        return None


class ReactorModel:
    """A model that is served: one instance per rank, for the life of the process.

    Give it a body in one of three ways: the step hooks (``process_input``, ``generate``,
    ``process_output``), a generator (``ReactorPipeline``), or a loop of its own (``run``). Set
    ``fps`` on the class to pin the rate, ``buffer_size`` to bound the queued frames.

    Attributes:
        state: The session's ``InputState``; ``None`` between sessions.
        output: What is on its way out: ``flush()``, ``fps``.
        connected: An event that is set while a session has a client.
        rank: Experimental. Position among the processes that run this model.
        world_size: Experimental. How many there are.
        local_rank: Experimental. Position on this machine.
        device: Experimental. ``"cpu"`` or ``"cuda:<n>"``.
        is_leader: Experimental. Whether this rank's output is the one that counts.
        seed: Of the session; numpy's and torch's global generators were seeded with it.
    """

    state: Any = StateAttribute()
    output: Any = OutputAttribute()
    connected: Any = ConnectedAttribute()

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    device: str = "cpu"
    is_leader: bool = True
    seed: int = 0

    _reactor_outlet: ClassVar[Outlet] = SilentOutlet()
    _reactor_body_calls: ClassVar[frozenset[str]] = frozenset(
        {"process_input", "generate", "process_output", "emit", "complete_step"}
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_model_class(cls)
        install_handles(cls)

    def load(self, config_path: Path | None) -> Any:
        """Make the model ready; called once, before ``warmup`` if there is one. May be async.

        While a plain one runs no event loop does, so that it may call ``asyncio.run()``.

        Args:
            config_path: The manifest's ``runtime.config``; a parameter named ``config`` gets the
                parsed file instead.
        """

    def process_input(self) -> Any:
        """Return what ``generate`` gets: by default ``self.state``. May be async.

        Raises:
            ApplicationError: No step now; asked again a few milliseconds later.
        """
        return self.state

    def generate(self, input: Any) -> Any:
        """Compute a step: return an ``Output``, or ``None``/``Idle`` for nothing. May be async."""
        raise NotImplementedError(
            f"{type(self).__name__} has no body: write generate(), run(), or a ReactorPipeline"
        )

    def process_output(self, outcome: StepOutcome) -> Any:
        """Return what is shown of a step: an ``Output``, a ``StepCompleted`` or nothing.

        May be async. By default an exception of ``generate`` is raised again, which ends the
        session.
        """
        if outcome.error is not None:
            raise outcome.error
        return outcome.to_output()

    async def run(self) -> None:
        """Run for the life of the model: by default, one step each turn."""
        async for turn in self._reactor_outlet.turns():
            if turn is not None:
                with suppress(BufferClosed):
                    await self._reactor_step()

    async def turns(self) -> AsyncIterator[Turn]:
        """Yield a ``Turn`` whenever a step may run: the lockstep form of a hand-written ``run``.

        Each iteration is one step: commands and hooks wait until the next turn is asked for.
        """
        async for turn in self._reactor_outlet.turns():
            if turn is not None:
                yield turn

    async def emit(
        self, output: Output, compute_time: float | None = None, drop: bool = False
    ) -> None:
        """Show *output*, waiting while the queue is full.

        On return its arrays may be overwritten. While no client is there it is dropped.

        Args:
            output: What to show.
            compute_time: Seconds it took to make, where the host's own measure misleads.
            drop: Drop it instead of waiting.

        Raises:
            FrameError: A value cannot be a frame of its track.
        """
        if output is not None and not isinstance(output, _IdleType):
            await self._reactor_outlet.emit(output, compute_time=compute_time, drop=drop)

    async def send(self, message: ModelMessage) -> None:
        """Send *message* to every client. Any thread may.

        Raises:
            MessageTooLargeError: It is larger than any client takes: 262,144 bytes, or less.
        """
        self._reactor_outlet.send(message, None)

    async def complete_step(self, report: StepCompleted) -> None:
        """Report one finished step of a hand-written ``run``."""
        await self._reactor_outlet.complete_step(report)

    def _on_loop_ready(self) -> None:
        """Do nothing: no part of an instance belongs to a loop. Older tests call it first."""

    async def _reactor_step(self) -> None:
        taken = refusal = None
        try:
            taken = await settle(self.process_input())
        except ApplicationError as error:
            refusal = text_of(error)
        if refusal is not None or _may_refuse(self):
            refusal = await self._reactor_outlet.agree(refusal)
        if refusal is not None:
            self._reactor_outlet.refuse_step(refusal)
            return
        outcome = await self._reactor_generate(taken)
        shown = await settle(self.process_output(outcome))
        giver = self.process_output if _has_own(self, "process_output") else self.generate
        await self._reactor_show(shown, outcome.elapsed, giver)

    async def _reactor_generate(self, taken: Any) -> StepOutcome:
        began = time.perf_counter()
        try:
            result = await settle(self.generate(taken))
        except BufferClosed:
            raise
        except Exception as error:  # noqa: BLE001 - process_output decides
            return StepOutcome(error=error, elapsed=time.perf_counter() - began)
        return StepOutcome(result=result, elapsed=time.perf_counter() - began)

    async def _reactor_show(self, shown: Any, elapsed: float, giver: Any) -> None:
        try:
            report = StepCompleted.of(shown, elapsed)
            if report.output is not None:
                await self.emit(report.output)
        except (FrameError, TypeError, ValueError) as error:
            note_place(error, giver)
            raise
        await self.complete_step(report)


ReactorApp = ReactorModel


def _may_refuse(model: ReactorModel) -> bool:
    """Return whether a step may be refused: without an author's word ranks need not ask around."""
    return _has_own(model, "process_input")


def _has_own(model: ReactorModel, method: str) -> bool:
    """Return whether *method* is the author's."""
    own = getattr(getattr(model, method), "__func__", None)
    return own is not getattr(ReactorModel, method)


def attach(model: ReactorModel, outlet: Outlet, world: World) -> None:
    """Hand *model* its outlet and its place in the world."""
    vars(model)["_reactor_outlet"] = outlet
    for name, value in world.attributes().items():
        tell(model, name, value)


def tell(model: ReactorModel, name: str, value: object) -> None:
    """Set an attribute of *model*, unless its author made a read-only property of that name."""
    with suppress(AttributeError):
        setattr(model, name, value)
