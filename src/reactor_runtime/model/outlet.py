"""Outlet: where an author's ``emit`` and ``send`` go.

A bare instance has the silent one, so that authors' own tests need no runtime. A host gives each
instance it drives an outlet of its own.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reactor_runtime.model.messages import ModelMessage
    from reactor_runtime.model.output import Output
    from reactor_runtime.model.step import StepCompleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One lockstep step, the same on every rank.

    Attributes:
        number: Steps since the session started, from 0.
        time_s: Monotonic seconds since the session started, stamped once by the host.
    """

    number: int
    time_s: float


class Outlet(Protocol):
    """What ``ReactorModel`` calls. ``send``, ``flush`` and ``set_fps`` may come from any thread."""

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
        """Record one finished step."""
        ...

    def turns(self) -> AsyncIterator[Turn]:
        """Yield a turn each time a step may run; the next request ends the step."""
        ...


class SilentOutlet:
    """The outlet of an instance nobody serves: everything does nothing, there are no turns."""

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

    async def turns(self) -> AsyncIterator[Turn]:
        """Yield nothing."""
        return
        yield  # makes this an async generator
