"""How much slower than alone a test must expect things to be on a machine that does much else."""

import os


def strain() -> float:
    """Return how many times over the processors are booked; 1.0 on a machine that keeps up."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))
