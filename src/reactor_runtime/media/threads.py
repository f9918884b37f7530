"""How many threads a piece of media work is worth on this machine.

libvpx's threads wait for each other by spinning: on a machine whose cores are busy a second one
makes an encode ten times slower, so threads are spent only where cores are plenty.
"""

import os

_CORES_PER_THREAD = 4


def threads_for(pixels: int) -> int:
    """Return the threads that pictures of *pixels* are worth."""
    worth = 1 if pixels < 500_000 else 2 if pixels < 1_500_000 else 4
    return max(1, min(worth, _usable_cores() // _CORES_PER_THREAD))


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
