"""``reactor submit``: hands a job to a control plane."""

from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.cli.control_address import DEFAULT_URL, Control, TokenFile, client_of
from reactor_runtime.cli.job_progress import Verbose, print_result, show


def submit(
    job_file: Annotated[Path, typer.Argument(help="The job, YAML or JSON.")],
    control: Control = DEFAULT_URL,
    token_file: TokenFile = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show its lines and end with its exit status.")
    ] = False,
    verbose: Verbose = False,
) -> int:
    """Send a job and its source folder; print the job's id."""
    from reactor_runtime.launcher.contracts import load_job
    from reactor_runtime.launcher.source_bundle import pack_source
    from reactor_runtime.scratch_folder import ScratchFolder

    job, source = load_job(job_file)
    client = client_of(control, token_file)
    with ScratchFolder("submit") as scratch:
        archive = scratch.path / "source.tar.gz"
        pack_source(source, archive, secrets=[token_file] if token_file else [])
        record = client.submit(job, client.files.send_source(archive))
    print(record.job_id, flush=True)
    if not follow:
        return 0

    from reactor_runtime.launcher.job_watch import JobWatch, exit_status
    from reactor_runtime.launcher.log_screen import LogScreen

    screen = LogScreen(shows_all=verbose)
    record = show(JobWatch(client, record.job_id), record, screen)
    print_result(record)
    return exit_status(record)
