"""N ranks in lockstep: processes, channels, shared frames and a process group.

It knows nothing of models or clients. Names load when they are first used.
"""

from typing import TYPE_CHECKING

from reactor_runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from reactor_runtime.distributed.runner import DistributedRunner
    from reactor_runtime.distributed.worker import DistributedWorker
    from reactor_runtime.errors import RankDesync, WorkerCrashed, WorkerError, WorkerTimeout

__all__ = [
    "DistributedRunner",
    "DistributedWorker",
    "RankDesync",
    "WorkerCrashed",
    "WorkerError",
    "WorkerTimeout",
]

_HOMES = {
    "DistributedRunner": "reactor_runtime.distributed.runner",
    "DistributedWorker": "reactor_runtime.distributed.worker",
    "RankDesync": "reactor_runtime.errors",
    "WorkerCrashed": "reactor_runtime.errors",
    "WorkerError": "reactor_runtime.errors",
    "WorkerTimeout": "reactor_runtime.errors",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
