"""ConnectedEvent: ``self.connected``, set while a session has a client."""

import asyncio
from typing import TYPE_CHECKING, Any

from reactor_runtime.errors import EndlessWaitError
from reactor_runtime.model.waiters import Waiters

if TYPE_CHECKING:
    from reactor_runtime.model.reactor_model import ReactorModel


class ConnectedEvent:
    """An ``asyncio.Event`` that belongs to no loop: made without one, awaited from any.

    The host sets and clears it; authors wait.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._waiters = Waiters()
        self._teller: asyncio.Task[Any] | None = None

    def told_by(self, task: "asyncio.Task[Any] | None") -> None:
        """Let *task*, which sets this event and runs commands and hooks, never wait for it."""
        self._teller = task

    def is_set(self) -> bool:
        """Return whether a client is there."""
        return self._is_set

    async def wait(self) -> bool:
        """Return ``True`` as soon as a client is there.

        Raises:
            EndlessWaitError: This is a command or hook, and nobody is there.
        """
        is_told = self._is_set or self._teller is None
        if not is_told and asyncio.current_task() is self._teller:
            raise EndlessWaitError
        with self._waiters.place() as turn:
            if not self._is_set:
                await turn
        return True

    def set(self) -> None:
        """Let everybody through."""
        self._is_set = True
        self._waiters.wake()

    def clear(self) -> None:
        """Make everybody wait."""
        self._is_set = False


class ConnectedAttribute:
    """Makes ``self.connected`` when it is first looked at."""

    def __get__(self, model: "ReactorModel | None", owner: type) -> Any:
        return self if model is None else connected_event(model)


def connected_event(model: "ReactorModel") -> ConnectedEvent:
    """Return the one event of *model*, whatever the author calls ``connected``."""
    event: ConnectedEvent = vars(model).setdefault("_reactor_connected", ConnectedEvent())
    return event
