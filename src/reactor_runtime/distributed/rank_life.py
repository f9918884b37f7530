"""What keeps a rank tied to its parent, and lets the parent look into it. Runs before all else."""

import faulthandler
import os
import signal
import sys
from typing import Final

from reactor_runtime.tether import die_with_parent

STACKS_SIGNAL: Final = getattr(signal, "SIGRTMIN", signal.SIGUSR2) + 9
ORPHANED: Final = 71  # exit status of a rank whose parent was gone before it looked


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it ends."""
    die_with_parent()
    if os.getppid() != parent:
        os._exit(ORPHANED)


def obey_signals() -> None:
    """Undo what the parent blocked or ignored: a rank must end when it is told to."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def show_stacks_in(descriptor: int) -> None:
    """Write all Python stacks to *descriptor* on ``STACKS_SIGNAL``, and to stderr on a crash.

    The stacks come from a C signal handler: a rank inside a native call shows them too.
    """
    faulthandler.enable(file=sys.stderr, all_threads=False)
    faulthandler.register(STACKS_SIGNAL, file=descriptor, all_threads=True)
