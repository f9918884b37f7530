"""``reactor launch``: one distributed job on this machine, to its end."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reactor_runtime.errors import SettingError

if TYPE_CHECKING:
    from reactor_runtime.launcher.backend import LaunchBackend
    from reactor_runtime.launcher.contracts import DistributedJob
    from reactor_runtime.launcher.job_record import JobRecord
    from reactor_runtime.launcher.job_watch import JobWatch


def launch(  # noqa: PLR0913 - each is a flag
    job_file: Annotated[Path, typer.Argument(help="The job, YAML or JSON.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what every node would run, and end.")
    ] = False,
    outputs: Annotated[Path, typer.Option(help="Folder of outputs, JOB/node<r>/ in it.")] = Path(
        "outputs"
    ),
    from_env: Annotated[
        str | None,
        typer.Option(
            help="Be one node under a scheduler: slurm, kubernetes or pytorchjob.",
            metavar="SCHEDULER",
        ),
    ] = None,
    backend: Annotated[
        str, typer.Option(help="Where the nodes are: local (this machine) or ray.")
    ] = "local",
    ray_address: Annotated[str, typer.Option(help="The Ray cluster, as ray.init takes it.")] = (
        "auto"
    ),
    ray_timeout: Annotated[
        float, typer.Option(help="Seconds in which Ray must have found the nodes.")
    ] = 60.0,
) -> int:
    """Run a distributed job on this machine: every node is an agent of its own here.

    With --backend ray every node is one of a Ray cluster. With --from-env this
    is one node of the job, and the scheduler starts the others. Ends with status
    0 when every node succeeded, 1 when one failed, 130 when interrupted.
    """
    from reactor_runtime.launcher.contracts import load_job

    job, source = load_job(job_file)
    if dry_run:
        print_plan(job)
        return 0
    if from_env is not None:
        return _run_scheduled(job, source, from_env)
    return _run(_backend(backend, job, outputs, ray_address, ray_timeout), source, outputs)


def _backend(
    name: str, job: "DistributedJob", outputs: Path, ray_address: str, ray_timeout: float
) -> "LaunchBackend":
    if name == "ray":
        from reactor_runtime.launcher.ray_backend import RayBackend

        return RayBackend(job, outputs.absolute(), ray_address, ray_timeout)
    if name != "local":
        raise SettingError("--backend", name, "local or ray")
    from reactor_runtime.launcher.local_backend import LocalBackend

    return LocalBackend(job, outputs.absolute())


def _run_scheduled(job: "DistributedJob", source: Path, scheduler: str) -> int:
    from reactor_runtime.launcher.scheduled_node import ScheduledNode
    from reactor_runtime.launcher.scheduler_env import place_from

    place = place_from(scheduler, os.environ, job.num_workers)
    node = ScheduledNode(job, source, place, write_lines)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: node.stop())
    result = node.run()
    where = f"job {job.name}, node {place.node_rank}"
    if not result.causes:
        print(f"{where}: {result.outcome}", file=sys.stderr)
        return 0
    print(f"{where}: failed: {result.causes[0].sentence}", file=sys.stderr)
    for cause in result.causes[1:]:
        print(f"  then: {cause.sentence}", file=sys.stderr)
    return 1


def write_lines(lines: bytes) -> None:
    """Write whole log lines to standard output."""
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def print_plan(job: "DistributedJob") -> None:
    """Print every node's ranks, command line and environment."""
    from reactor_runtime.launcher.plan import plan_group
    from reactor_runtime.launcher.torchrun import keeper_argv, task_environment, torchrun_argv

    endpoint = "ADDRESS_OF_NODE_0:PORT"
    for task in plan_group(job):
        ranks = ", ".join(map(str, task.ranks))
        print(f"node {task.node_rank} of {job.num_workers}: ranks {ranks} of {task.world_size}")
        for name, value in sorted(task_environment(task, endpoint).items()):
            print(f"  {name}={shlex.quote(value)}")
        argv = torchrun_argv(task, endpoint)
        print(f"  {shlex.join(keeper_argv(argv, 'python', 300, job.timeout_s))}\n")


def _run(backend: "LaunchBackend", source: Path, outputs: Path) -> int:
    from reactor_runtime.launcher.job_watch import JobWatch, exit_status

    _heed_signals()
    with backend:
        _heed_signals()  # a cluster's library may have set its own
        record = backend.submit(source)
        watch = JobWatch(backend.client, record.job_id)
        try:
            record = show(watch, record, backend.check)
        except KeyboardInterrupt:
            backend.client.cancel(record.job_id)
            record = show(watch, record)
    print_result(record, outputs)
    return exit_status(record)


def _heed_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background jobs ignore the latter
        signal.signal(number, _interrupt)


def show(
    watch: "JobWatch", record: "JobRecord", check: Callable[[], None] | None = None
) -> "JobRecord":
    """Print a job's lines and states until it is over, and return it as it ended.

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
            if glance.lines:
                if status is not None:
                    status.stop()  # its line is no part of the log's
                write_lines(glance.lines)
                if status is not None:
                    status.start()
            if check is not None and record.state is JobState.QUEUED:
                check()
    return record


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


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
