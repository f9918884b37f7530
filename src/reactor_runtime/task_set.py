"""TaskSet: the background tasks of one owner, who ends them all when it ends."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from reactor_runtime.log import get_logger

log = get_logger(__name__)


class TaskSet:
    """Keeps tasks alive, logs the one that fails, cancels what is left on ``close``.

    Unlike a ``TaskGroup`` it outlives the failure of one of them: a session must not end because
    one client's connection could not be closed.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run *work* until it ends or the set is closed."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self, timeout_s: float) -> None:
        """Cancel every task but the caller's and wait for them, at most *timeout_s*. Idempotent."""
        tasks = {task for task in self._tasks if task is not asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if not tasks:
            return
        _, stuck = await asyncio.wait(tasks, timeout=timeout_s)
        for task in stuck:
            log.error("task_stuck", task=task.get_name())

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", task=task.get_name(), exc_info=error)
