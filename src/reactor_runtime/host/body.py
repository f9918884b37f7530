"""Body: the running ``run()`` of a model, and when it is started again."""

import asyncio

from reactor_runtime.errors import BufferClosed
from reactor_runtime.host.model_driver import ModelDriver
from reactor_runtime.host.turn_source import TurnSource
from reactor_runtime.model.author_call import cancel
from reactor_runtime.model.step import StepCompleted, together


class Body:
    """Started once after ``load`` and meant to live as long as the model.

    One that ends is started again: by the next session; by the next client already, if it ended
    because its input closed.
    """

    def __init__(self, driver: ModelDriver, turns: TurnSource, group: asyncio.TaskGroup) -> None:
        self._driver, self._turns, self._group = driver, turns, group
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._input_closed = False

    async def start(self) -> None:
        """Run it, unless it runs; on return it has come to where it waits first."""
        if self._task is None:
            self._input_closed = False
            self._task = self._group.create_task(self._run(), name="reactor-body")
            await asyncio.sleep(0)

    async def resume(self) -> None:
        """Run it, if it ended because its input closed."""
        if self._input_closed:
            await self.start()

    async def let_go(self) -> None:
        """Let it close what it holds of a session that ends, or whose last client left."""
        await self._turns.let_go()

    def cancel(self) -> None:
        """End it."""
        if self._task is not None:
            cancel(self._task)

    def take_failure(self) -> BaseException | None:
        """Return what it raised, once."""
        failure, self._failure = self._failure, None
        return failure

    async def _run(self) -> None:
        error: BaseException | None = None
        try:
            error = await self._driver.run()
        finally:
            self._task = None
            self._input_closed = isinstance(error, BufferClosed)
            if error is not None and not self._input_closed:
                self._failure = error
                if self._turns.step is not None:
                    step = self._turns.step
                    step.report = together(step.report, StepCompleted(error=error))
            self._turns.leave()
