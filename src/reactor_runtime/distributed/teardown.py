"""Ending ranks: ask, terminate, kill, reap; each step bounded, and nothing left behind."""

import signal
import time
from collections.abc import Sequence
from enum import Enum
from typing import Final

from reactor_runtime.distributed.orphan_guard import sweep
from reactor_runtime.distributed.worker_process import WorkerProcess
from reactor_runtime.log import get_logger

log = get_logger(__name__)

TERMINATE_S: Final = 0.5  # seconds a rank of a broken group has after SIGTERM
KILL_S: Final = 5.0


class Ending(Enum):
    """How a rank's process ended."""

    BY_ITSELF = "by_itself"
    TERMINATED = "terminated"
    KILLED = "killed"
    STUCK = "stuck"


def end_ranks(processes: Sequence[WorkerProcess], patience_s: float) -> dict[int, Ending]:
    """End every process and return how each ended.

    Args:
        processes: The ranks, dead or alive.
        patience_s: Seconds they have to end by themselves; 0 for a broken group.
    """
    endings = {p.rank: Ending.BY_ITSELF for p in _wait_for(processes, patience_s)}
    left = [p for p in processes if p.rank not in endings]
    for process in left:
        process.signal(signal.SIGTERM)
    awake = [p for p in left if p.state() not in ("T", "t")]  # a stopped one cannot obey
    endings |= {p.rank: Ending.TERMINATED for p in _wait_for(awake, TERMINATE_S)}
    left = [p for p in left if p.rank not in endings]
    for process in left:
        process.signal(signal.SIGKILL)
    endings |= {p.rank: Ending.KILLED for p in _wait_for(left, KILL_S)}
    endings = {p.rank: endings.get(p.rank, Ending.STUCK) for p in processes}
    for rank, ending in endings.items():
        if ending is Ending.STUCK:
            log.error("rank_cannot_be_killed", rank=rank)
    return endings


def end_descendants(mark: str) -> None:
    """End what the ranks started and left behind."""
    if count := sweep(mark):
        log.info("rank_descendants_killed", count=count)


def _wait_for(processes: Sequence[WorkerProcess], within_s: float) -> list[WorkerProcess]:
    """Return those that end within *within_s* seconds."""
    deadline = time.monotonic() + within_s
    return [p for p in processes if p.wait(deadline - time.monotonic()) is not None]
