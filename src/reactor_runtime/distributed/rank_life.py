"""What keeps a rank tied to its parent, and lets the parent look into it. Runs before all else."""

import contextlib
import faulthandler
import os
import signal
import sys
from types import FrameType
from typing import Final

from reactor_runtime.tether import die_with_parent

STACKS_SIGNAL: Final = getattr(signal, "SIGRTMIN", signal.SIGUSR2) + 9
TASKS_HEADING: Final = "Tasks of the event loop:\n"
_DEEPEST: Final = 6  # calls of a task: where it waits must not be cut off
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

    The stacks come from a C signal handler: a rank inside a native call shows them too. One whose
    asyncio loop waits adds what its tasks wait for, which no thread's stack shows.
    """
    faulthandler.enable(file=sys.stderr, all_threads=False)
    signal.signal(STACKS_SIGNAL, lambda _, frame: _show_tasks(descriptor, frame))
    faulthandler.register(STACKS_SIGNAL, file=descriptor, all_threads=True, chain=True)


def _show_tasks(descriptor: int, frame: FrameType | None) -> None:
    selectors = sys.modules.get("selectors")
    if selectors is None or frame is None or frame.f_code.co_filename != selectors.__file__:
        return
    with contextlib.suppress(Exception):  # author code would get what is raised here
        import asyncio  # with what it loads: more than a rank begins with

        from reactor_runtime.stacks import await_stack

        tasks = [await_stack(task, _DEEPEST) for task in asyncio.all_tasks()]
        text = "".join([TASKS_HEADING, *tasks])
        os.write(descriptor, text.encode(errors="backslashreplace"))
