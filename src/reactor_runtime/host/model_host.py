"""ModelHost: where a model runs. One interface, one contract suite, however many processes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from reactor_runtime.host.events import ModelEvent
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputFrame


class ModelHost(ABC):
    """Runs one author model on every rank of a world and reports to the outlet it was given.

    Events in, outlet out. Pending events are applied whenever no step runs; a step runs when a
    session is live, a client is connected and the outlet has room. ``async with`` starts and stops
    it.
    """

    @property
    @abstractmethod
    def contract(self) -> ModelContract:
        """What the model's class declares."""

    @abstractmethod
    async def start(self) -> None:
        """Construct, load and warm up the model.

        Raises:
            ModelLoadError: The author's code raised; nothing is left running.
        """

    @abstractmethod
    def post(self, event: ModelEvent) -> None:
        """Queue *event*, from any thread. Events are applied in the order of posting.

        Raises:
            HostClosedError: The host has failed or was stopped.
        """

    @abstractmethod
    def withdraw(self, call_id: int) -> bool:
        """Take back a command; ``True`` when it had not begun: it will not run nor be answered."""

    @abstractmethod
    def push_frame(self, track: str, frame: InputFrame) -> None:
        """Hand in one inbound frame, from any thread; when full, the oldest is dropped."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes the model runs in, by rank; empty when it runs in this one."""
        return ()

    @abstractmethod
    def stacks(self) -> Mapping[str, str]:
        """Return what the model is doing right now: a Python stack for its thread, or each rank."""

    @abstractmethod
    async def stop(self) -> None:
        """End what runs, within a bound, and leave nothing behind. Idempotent."""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
