"""What a person sees of a job: its lines and progress while it runs, and how it ended."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from reactor_runtime.launcher.job_record import JobRecord
    from reactor_runtime.launcher.job_watch import JobWatch
    from reactor_runtime.launcher.log_screen import LogScreen

Verbose = Annotated[bool, typer.Option("--verbose", help="Show what torchrun itself prints, too.")]


def write_lines(lines: bytes) -> None:
    """Write whole log lines to standard output."""
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def show(
    watch: "JobWatch",
    record: "JobRecord",
    screen: "LogScreen",
    check: Callable[[], None] | None = None,
) -> "JobRecord":
    """Print a job's lines and states until it is over, and return it as it ended.

    Of the lines, those that *screen* passes on; the rest only where no rank says what went wrong.
    *check* is called while the job waits for nodes, and raises when there will be none.
    """
    from rich.console import Console

    from reactor_runtime.launcher.job_state import JobState

    console = Console(stderr=True)
    said = ""
    live: AbstractContextManager[Any] = console.status("") if console.is_terminal else nullcontext()
    with live as status:
        for glance in watch.follow(time.sleep):
            record = glance.record
            text = progress_of(record)
            if status is not None:
                status.update(text)
            elif text != said:
                print(text, file=sys.stderr, flush=True)
            said = text
            if lines := screen.pass_on(glance.lines):
                _write_above(status, lines)
            if check is not None and record.state is JobState.QUEUED:
                check()
    if record.causes and record.causes[0].rank is None:
        write_lines(b"".join(screen.held))
    return record


def _write_above(status: Any, lines: bytes) -> None:
    """Write *lines*; the line of a *status*, if there is one, is no part of them."""
    if status is not None:
        status.stop()
    write_lines(lines)
    if status is not None:
        status.start()


def progress_of(record: "JobRecord") -> str:
    """Return one line: the job's state and that of each node."""
    attempt = record.attempt
    nodes = (
        "" if attempt is None else ", ".join(f"node{t.node_rank} {t.state}" for t in attempt.tasks)
    )
    again = f" (attempt {attempt.number})" if attempt is not None and attempt.number > 1 else ""
    return f"{record.job_id} {record.state}{again}: {nodes or record.reason or 'accepted'}"


def print_result(record: "JobRecord", outputs: Path | None = None) -> None:
    """Print how a job ended, and the outputs that lie in *outputs*."""
    from reactor_runtime.launcher.job_watch import result_lines

    for line in result_lines(record):
        print(line, file=sys.stderr)
    folder = outputs / record.job_id if outputs is not None else None
    for path in sorted(folder.rglob("*")) if folder is not None and folder.is_dir() else ():
        if path.is_file():
            print(f"output {path}", file=sys.stderr)
