"""A rank without torch: waits for all others to be here, then does what it is told.

Usage: act.py WHAT [RANK [ARGUMENT]]. Every rank but RANK then waits to be ended.
"""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

what = sys.argv[1]
chosen = int(sys.argv[2]) if len(sys.argv) > 2 else -1
argument = sys.argv[3] if len(sys.argv) > 3 else ""
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
meeting = Path(os.environ["TEST_FOLDER"])


def say(words: str) -> None:
    sys.stdout.write(words + "\n")


def meet() -> None:
    meeting.joinpath(f"here-{rank}").touch()
    deadline = time.monotonic() + 60
    while len(list(meeting.glob("here-*"))) < world:
        if time.monotonic() > deadline:
            raise TimeoutError(f"rank {rank}: not everybody came")
        time.sleep(0.02)


def environment() -> None:
    for name in ("MASTER_ADDR", "RANK", "WORLD_SIZE", "PET_NNODES", "PET_RDZV_BACKEND"):
        say(f"{name}={os.environ.get(name)}")


def flood() -> None:
    meet()
    for number in range(int(argument)):
        say(f"line {number} of rank {rank}")
    sys.stdout.write("no end of line")


def wait() -> None:
    meet()
    while not (meeting / "go").exists():
        time.sleep(0.05)


def busy() -> None:
    """Hold the interpreter: one call that does not let go of it."""
    meet()
    ctypes.PyDLL(None).sleep(int(argument))


def fail() -> None:
    meet()
    if what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if rank == chosen:
        say(f"rank {rank} acts: {what}")
        meeting.joinpath("acted").write_text(repr(time.monotonic()))
        act()
    time.sleep(300)


def act() -> None:
    if what == "raise":
        raise ValueError("this rank will not")
    if what == "thread":
        threading.Thread(target=time.sleep, args=(300,)).start()
        atexit.register(say, "what was to be done at exit is done")
        raise ValueError("this rank will not")
    if what == "exit":
        sys.exit(int(argument))
    if what == "grandchild":
        subprocess.Popen(["sleep", "300"], start_new_session=True)
    if what in {"kill", "grandchild"}:
        os.kill(os.getpid(), signal.SIGKILL)


Path(f"began-{rank}.txt").write_text(f"{rank}\n")
{"environment": environment, "flood": flood, "wait": wait, "busy": busy}.get(what, fail)()
