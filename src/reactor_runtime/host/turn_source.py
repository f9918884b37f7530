"""TurnSource: hands turns to the body of a model, one at a time, and knows whether a step runs."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from reactor_runtime.model.step import StepCompleted
from reactor_runtime.model.turn import Turn

_NOTHING: Final = StepCompleted()


class BodyState(Enum):
    """What ``run()`` is doing, as far as turns are concerned."""

    AWAY = auto()  # in code of its own: it has not asked for a turn, or is not running
    ASKING = auto()  # waits for a turn
    STEPPING = auto()  # has a turn, or is letting go of a session


@dataclass(slots=True, eq=False)
class Step:
    """A step that runs; its body and outlet write down what became of it.

    Attributes:
        turn: What the body was told.
        began: Monotonic seconds.
        apply_s: Seconds the events before it took.
        refused: ``process_input`` refused it.
        shown: Outputs emitted in it, dropped ones included.
        report: What its author reports of it.
    """

    turn: Turn
    began: float
    apply_s: float
    refused: bool = False
    shown: int = 0
    report: StepCompleted = _NOTHING


class TurnSource:
    """Used on the model's loop only.

    Args:
        on_change: Called when the body asks for a turn, or leaves: the step, if any, has ended.

    Attributes:
        state: What the body is doing.
        step: The step that runs, or that has just ended when *on_change* is called.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.state = BodyState.AWAY
        self.step: Step | None = None
        self._on_change = on_change
        self._is_free = asyncio.Event()
        self._request: asyncio.Future[Turn | None] | None = None

    async def turns(self) -> AsyncGenerator[Turn | None, None]:
        """Yield what is handed out; asking again, or leaving the loop, ends the step."""
        request: asyncio.Future[Turn | None] | None = None
        try:
            while True:
                request = self._ask()
                yield await request
        finally:
            if request is self._request:  # nobody else has asked since
                self.leave()

    def hand_out(self, step: Step) -> None:
        """Let the body, which is asking, make *step*."""
        self.step = step
        self._answer(step.turn)

    async def let_go(self) -> None:
        """Tell the body, if it is asking, that the session or its last client is gone.

        Returns when it has closed what it holds: it asks again, or has left.
        """
        if self.state is BodyState.ASKING:
            self._is_free.clear()
            self._answer(None)
            await self._is_free.wait()

    def leave(self) -> None:
        """Note that the body is in code of its own, or has ended."""
        self._request = None
        self._change_to(BodyState.AWAY)

    def _ask(self) -> "asyncio.Future[Turn | None]":
        self._request = asyncio.get_running_loop().create_future()
        self._change_to(BodyState.ASKING)
        return self._request

    def _change_to(self, state: BodyState) -> None:
        self.state = state
        self._is_free.set()
        self._on_change()

    def _answer(self, turn: Turn | None) -> None:
        if self._request is not None and not self._request.done():
            self.state = BodyState.STEPPING
            self._request.set_result(turn)
