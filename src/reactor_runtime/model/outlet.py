"""Outlet: where an author's ``emit`` and ``send`` go.

A bare instance has the silent one, so that authors' own tests need no runtime. A host gives each
instance it drives an outlet of its own.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

from reactor_runtime.model.turn import Turn

if TYPE_CHECKING:
    from reactor_runtime.model.messages import ModelMessage
    from reactor_runtime.model.output import Output
    from reactor_runtime.model.step import StepCompleted


class Outlet(Protocol):
    """What ``ReactorModel`` calls. ``send``, ``flush`` and ``set_fps`` may come from any thread."""

    @property
    def pinned_fps(self) -> float | None:
        """The rate the author pinned, in frames per second."""
        ...

    async def emit(self, output: "Output", *, compute_time: float | None, drop: bool) -> None:
        """Show *output*; wait while the queue is full, unless *drop*. Raises ``FrameError``."""
        ...

    def send(self, message: "ModelMessage", client_id: str | None) -> None:
        """Send *message* to one client, or to all when *client_id* is ``None``."""
        ...

    def flush(self) -> None:
        """Drop everything emitted before this call and cut to black."""
        ...

    def set_fps(self, fps: float) -> None:
        """Pin the rate (frames per second) and re-pace what is queued."""
        ...

    async def complete_step(self, report: "StepCompleted") -> None:
        """Record one finished step, and show its output unless that was emitted already."""
        ...

    async def agree(self, refusal: str | None) -> str | None:
        """Return why the step is refused, by whichever rank; ``None`` when it goes on.

        Args:
            refusal: Why this rank's ``process_input`` refused it, if it did.
        """
        ...

    def refuse_step(self, reason: str) -> None:
        """Note that ``process_input`` refused the step that runs."""
        ...

    def turns(self) -> AsyncIterator[Turn | None]:
        """Yield a turn each time a step may run; the next request ends the step.

        ``None``: the session ended or the last client left; whoever holds a generator closes it.
        """
        ...

    def state_is_missed(self) -> None:
        """Note that ``self.state`` was read while no session is live."""
        ...


class SilentOutlet:
    """The outlet of an instance nobody serves: everything does nothing, there are no turns."""

    pinned_fps: float | None = None

    async def emit(self, output: "Output", *, compute_time: float | None, drop: bool) -> None:
        """Do nothing."""

    def send(self, message: "ModelMessage", client_id: str | None) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""

    def set_fps(self, fps: float) -> None:
        """Do nothing."""

    async def complete_step(self, report: "StepCompleted") -> None:
        """Do nothing."""

    async def agree(self, refusal: str | None) -> str | None:
        """Return what this rank says: there is no other."""
        return refusal

    def refuse_step(self, reason: str) -> None:
        """Do nothing."""

    async def turns(self) -> AsyncIterator[Turn | None]:
        """Yield nothing."""
        return
        yield  # makes this an async generator

    def state_is_missed(self) -> None:
        """Do nothing."""
