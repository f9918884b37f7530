"""What silent ranks are doing: their Python stacks, or why there are none."""

import linecache
import re
import time
from collections.abc import Sequence
from typing import Final

from reactor_runtime.distributed.rank_life import TASKS_HEADING
from reactor_runtime.distributed.worker_process import WorkerProcess

_WITHIN_S: Final = 0.5
_QUIET_S: Final = 0.03
_PAUSE_S: Final = 0.005
_MOST_TEXT: Final = 32_000
_PLACE: Final = re.compile(r'  File "(.+)", line (\d+) in ')

_STATES: Final = {
    "T": "its process is stopped (SIGSTOP or a debugger); a stopped process shows no stack",
    "t": "its process is stopped by a debugger; a stopped process shows no stack",
    "Z": "its process has ended",
}


def stacks_of(processes: Sequence[WorkerProcess]) -> tuple[tuple[int, str], ...]:
    """Ask every process for its stacks, and return what each answered."""
    for process in processes:
        if process.state() not in _STATES:
            process.ask_for_stacks()
    deadline = time.monotonic() + _WITHIN_S
    return tuple((process.rank, _stack_of(process, deadline)) for process in processes)


def _stack_of(process: WorkerProcess, deadline: float) -> str:
    if (state := process.state()) in _STATES:
        return _STATES[state]
    text, quiet_since = "", time.monotonic()
    while (now := time.monotonic()) < deadline:
        if (found := process.read_stacks()) != text:
            text, quiet_since = found, now
        elif text and now - quiet_since > _QUIET_S:
            break
        time.sleep(_PAUSE_S)
    if text:
        threads, heading, tasks = text[-_MOST_TEXT:].rstrip().partition(TASKS_HEADING)
        stacks = "".join([heading, tasks, "\n" if tasks else "", _with_source(threads.rstrip())])
        return f"its Python stacks:\n{stacks}"
    return f"no stack could be taken: the process does not answer a signal (state {state})"


def _with_source(stacks: str) -> str:
    """Return *stacks* with the line of source under each place, as tracebacks have it."""
    lines = []
    for line in stacks.splitlines():
        lines.append(line)
        if place := _PLACE.match(line):
            lines.append(f"    {linecache.getline(place[1], int(place[2])).strip()}")
    return "\n".join(lines)
