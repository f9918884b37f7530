"""``reactor launch``: one distributed job on this machine, to its end."""

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reactor_runtime.cli.job_progress import Verbose, print_result, show, write_lines
from reactor_runtime.errors import SettingError

if TYPE_CHECKING:
    from reactor_runtime.launcher.backend import LaunchBackend
    from reactor_runtime.launcher.contracts import DistributedJob
    from reactor_runtime.launcher.log_screen import LogScreen


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
    verbose: Verbose = False,
) -> int:
    """Run a distributed job on this machine: every node is an agent of its own here.

    With --backend ray every node is one of a Ray cluster. With --from-env this
    is one node of the job, and the scheduler starts the others. Ends with status
    0 when every node succeeded, 1 when one failed, 130 when interrupted.
    """
    from reactor_runtime.launcher.contracts import load_job
    from reactor_runtime.launcher.log_screen import LogScreen

    job, source = load_job(job_file, runs_here=backend == "local")
    if dry_run:
        print_plan(job)
        return 0
    screen = LogScreen(shows_all=verbose)
    if from_env is not None:
        return _run_scheduled(job, source, from_env, screen)
    nodes = _backend(backend, job, outputs, ray_address, ray_timeout)
    return _run(nodes, source, outputs, screen)


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


def _run_scheduled(job: "DistributedJob", source: Path, scheduler: str, screen: "LogScreen") -> int:
    from reactor_runtime.launcher.scheduled_node import ScheduledNode
    from reactor_runtime.launcher.scheduler_env import place_from

    place = place_from(scheduler, os.environ, job.num_workers)
    node = ScheduledNode(job, source, place, lambda lines: write_lines(screen.pass_on(lines)))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: node.stop())
    result = node.run()
    where = f"job {job.name}, node {place.node_rank}"
    if not result.causes:
        print(f"{where}: {result.outcome}", file=sys.stderr)
        return 0
    if result.causes[0].rank is None:
        write_lines(b"".join(screen.held))
    print(f"{where}: failed: {result.causes[0].sentence}", file=sys.stderr)
    for cause in result.causes[1:]:
        print(f"  then: {cause.sentence}", file=sys.stderr)
    return 1


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


def _run(backend: "LaunchBackend", source: Path, outputs: Path, screen: "LogScreen") -> int:
    from reactor_runtime.launcher.job_watch import JobWatch, exit_status

    _heed_signals()
    with backend:
        _heed_signals()  # a cluster's library may have set its own
        record = backend.submit(source)
        watch = JobWatch(backend.client, record.job_id)
        try:
            record = show(watch, record, screen, backend.check)
        except KeyboardInterrupt:
            backend.client.cancel(record.job_id)
            record = show(watch, record, screen)
    print_result(record, outputs)
    return exit_status(record)


def _heed_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background jobs ignore the latter
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
