"""``reactor jobs``: what a control plane knows of its jobs."""

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from reactor_runtime.cli.control_address import DEFAULT_URL, Control, TokenFile, client_of
from reactor_runtime.cli.job_progress import write_lines
from reactor_runtime.cli.plain_flags import PlainCommand, PlainGroup

if TYPE_CHECKING:
    from reactor_runtime.launcher.job_record import JobRecord

jobs = typer.Typer(
    help="Look at the jobs of a control plane, or end one.", no_args_is_help=True, cls=PlainGroup
)
JobId = Annotated[str, typer.Argument(help="The job's id, as submit printed it.")]


@jobs.command("list", cls=PlainCommand)
def list_jobs(control: Control = DEFAULT_URL, token_file: TokenFile = None) -> int:
    """Print one line per job, oldest first."""
    for record in client_of(control, token_file).jobs():
        shape = f"{record.job.num_workers}x{record.job.procs_per_worker}"
        at = datetime.fromtimestamp(record.submitted_at).isoformat(" ", "seconds")
        print(f"{record.job_id:<30} {record.state:<10} {shape:>7}  {at}  {record.reason}")
    return 0


@jobs.command(cls=PlainCommand)
def show(job_id: JobId, control: Control = DEFAULT_URL, token_file: TokenFile = None) -> int:
    """Print everything that is known of a job."""
    from reactor_runtime.launcher.job_watch import result_lines

    record = client_of(control, token_file).job(job_id)
    _print_nodes(record)
    for line in result_lines(record):
        print(line)
    return 0


@jobs.command(cls=PlainCommand)
def logs(
    job_id: JobId,
    control: Control = DEFAULT_URL,
    token_file: TokenFile = None,
    node: Annotated[int | None, typer.Option(help="Only this node rank.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the job is over.")] = False,
) -> int:
    """Print what a job's ranks have printed, each line with its node and rank."""
    from reactor_runtime.launcher.job_watch import JobWatch

    client = client_of(control, token_file)
    client.job(job_id)  # a control plane that is not there is waited for only once it was
    watch = JobWatch(client, job_id, node)
    for glance in watch.follow(time.sleep) if follow else watch.so_far():
        write_lines(glance.lines)
    return 0


@jobs.command(cls=PlainCommand)
def cancel(job_id: JobId, control: Control = DEFAULT_URL, token_file: TokenFile = None) -> int:
    """Have a job end, on every node."""
    record = client_of(control, token_file).cancel(job_id)
    print(f"{record.job_id} {record.state}")
    return 0


def _print_nodes(record: "JobRecord") -> None:
    print(f"{record.job_id} {record.state} {record.reason}".rstrip())
    for attempt in record.attempts:
        print(f"attempt {attempt.attempt_id} met at {attempt.endpoint or 'no endpoint yet'}")
        for task in attempt.tasks:
            print(f"  node {task.node_rank} on {task.agent_id} ({task.address}): {task.state}")
