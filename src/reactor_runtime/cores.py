"""usable_cores: how many processors this process may run on."""

import os


def usable_cores() -> int:
    """Return the processors of this process's affinity; all there are where none can be set."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
