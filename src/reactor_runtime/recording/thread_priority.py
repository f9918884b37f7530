"""How threads that nobody waits for make way for those of what is live."""

import os
import sys
import threading
from contextlib import suppress

_NICER = 5


def lower_priority() -> None:
    """Leave the processor to what is live, where there is not enough of it for both.

    Linux has a priority for each thread; those that the encoder starts inherit it.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        nice = os.getpriority(os.PRIO_PROCESS, thread) + _NICER
        with suppress(OSError):  # a sandbox may forbid it
            os.setpriority(os.PRIO_PROCESS, thread, min(nice, 19))
