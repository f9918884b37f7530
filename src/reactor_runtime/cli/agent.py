"""``reactor agent``: offers this node to a control plane."""

from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.cli.control_address import (
    DEFAULT_URL,
    Control,
    TokenFile,
    labels_of,
    read_token,
)


def agent(  # noqa: PLR0913 - each is a flag
    control: Control = DEFAULT_URL,
    token_file: TokenFile = None,
    procs: Annotated[int, typer.Option(min=1, help="Processes this node may hold.")] = 1,
    name: Annotated[
        str | None, typer.Option(help="Name of the node; the host's by default.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(help="Network interface for peers; that of the route to --control."),
    ] = None,
    advertise: Annotated[
        str | None, typer.Option(help="Address for peers; that of --interface.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="name=value, may be repeated.")] = None,
    work_dir: Annotated[
        Path | None, typer.Option(help="Folder for tasks and unsent reports.")
    ] = None,
) -> int:
    """Run the tasks that a control plane gives this node, until SIGTERM or SIGINT.

    Whatever ends this process, everything that it started ends with it.
    """
    from reactor_runtime.launcher.agent_program import AgentSettings, run_agent
    from reactor_runtime.log import configure

    configure()
    settings = AgentSettings(
        control=control,
        token=read_token(token_file),
        procs=procs,
        interface=interface,
        advertise=advertise,
        labels=labels_of(label or []),
        work_dir=work_dir,
    )
    return run_agent(settings.model_copy(update={"name": name}) if name else settings)
