"""N ranks in lockstep: processes, channels, shared frames and a process group.

It knows nothing of models or clients. Names load when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
