"""TaskSet: background tasks that somebody owns, awaits and hears the failures of."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from reactor_runtime.log import get_logger

_log = get_logger(__name__)


class TaskSet:
    """Runs tasks until ``close``; one that fails is logged and takes nothing else along."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run *work* in the background."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    async def close(self, timeout_s: float) -> None:
        """Cancel what still runs and wait for it, at most *timeout_s* seconds."""
        running = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in running:
            task.cancel()
        if running:
            _, late = await asyncio.wait(running, timeout=timeout_s)
            for task in late:
                _log.warning("task_does_not_end", task=task.get_name())

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            trace = (type(error), error, error.__traceback__)
            _log.error("background_task_failed", task=task.get_name(), exc_info=trace)
