"""The escape hatch: the engine under a model of several ranks, to be driven by hand.

Experimental: names and behaviour here may change in any version. Most models need none of it;
``world_size: 2`` in the manifest runs the same class on two ranks.
"""

from reactor_runtime.distributed.shared_frame_buffer import SharedFrameBuffer
from reactor_runtime.distributed.worker import DistributedWorker
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import RankDesync, WorkerCrashed, WorkerError, WorkerTimeout

__all__ = [
    "DistributedWorker",
    "RankDesync",
    "SharedFrameBuffer",
    "WorkerCrashed",
    "WorkerError",
    "WorkerGroup",
    "WorkerTimeout",
]
