"""How many threads a piece of media work is worth on this machine.

libvpx's threads wait for each other by spinning: on a machine whose cores are busy a second one
makes an encode ten times slower, so threads are spent only where cores are plenty.
"""

from reactor_runtime.cores import usable_cores

_CORES_PER_THREAD = 4


def threads_for(pixels: int) -> int:
    """Return the threads that pictures of *pixels* are worth."""
    worth = 1 if pixels < 500_000 else 2 if pixels < 1_500_000 else 4
    return max(1, min(worth, usable_cores() // _CORES_PER_THREAD))
