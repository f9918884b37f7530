"""``reactor control-plane``: the one place that knows every job and every node."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reactor_runtime.cli.control_address import DEFAULT_PORT, TokenFile, read_token
from reactor_runtime.errors import SettingError
from reactor_runtime.host_port import join_host_port
from reactor_runtime.loopback import is_loopback

if TYPE_CHECKING:
    from reactor_runtime.launcher.control_program import ControlProgram


def control_plane(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any.")] = DEFAULT_PORT,
    state: Annotated[
        Path, typer.Option(help="SQLite file of jobs and nodes; survives a restart.")
    ] = Path("reactor-jobs.sqlite"),
    outputs: Annotated[Path, typer.Option(help="Folder of outputs, JOB/node<r>/ in it.")] = Path(
        "outputs"
    ),
    token_file: TokenFile = None,
    control_timeout: Annotated[
        float, typer.Option(help="Seconds of silence after which an agent ends its own tasks.")
    ] = 300.0,
) -> int:
    """Take jobs and give them to agents, until SIGTERM or SIGINT.

    A running job goes on when this command is stopped and started again with
    the same --state.
    """
    import asyncio

    from reactor_runtime.launcher.control_plane import ControlSettings
    from reactor_runtime.launcher.control_program import ControlProgram
    from reactor_runtime.log import configure

    token = read_token(token_file)
    if token is None and not is_loopback(host):
        wanted = "--token-file FILE: who reaches this port can run programs on every node"
        raise SettingError("--host", f"{host} without a token", wanted)
    configure()
    program = ControlProgram(
        state=state.absolute(),
        outputs=outputs.absolute(),
        token=token,
        settings=ControlSettings(control_timeout_s=control_timeout),
    )
    asyncio.run(_run(program, host, port))
    return 0


async def _run(program: "ControlProgram", host: str, port: int) -> None:
    import asyncio

    from reactor_runtime.listening_socket import open_sockets
    from reactor_runtime.log import get_logger

    listeners = open_sockets(host, port)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    url = f"http://{join_host_port(host, listeners[0].getsockname()[1])}"
    get_logger("reactor_runtime.launcher").info("control_plane_ready", url=url)
    await program.run(listeners, stop)
