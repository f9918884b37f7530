"""The server while it lives: HTTP, the model behind it, and the watch over the loop they share."""

import asyncio
import socket
from collections.abc import Sequence

from reactor_runtime.announcements import announce_address
from reactor_runtime.clock import SystemClock
from reactor_runtime.exit_status import ExitStatus
from reactor_runtime.http.app import create_app
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.http_server import HttpServer
from reactor_runtime.loop_lag import LoopLag
from reactor_runtime.metrics import Metrics
from reactor_runtime.model_life import ModelLife
from reactor_runtime.settings import ServeSettings
from reactor_runtime.stop_signals import StopSignals


async def serve(
    settings: ServeSettings,
    sockets: Sequence[socket.socket],
    stop: StopSignals,
) -> ExitStatus:
    """Answer on *sockets* and serve the model until *stop* asks or the model is lost."""
    clock, metrics = SystemClock(), Metrics()
    stage = Stage(server_settings(settings), metrics)
    http = HttpServer(create_app(stage))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(http.serve(sockets))
        lag = tasks.create_task(LoopLag(clock, metrics).run())
        try:
            await http.wait_until_up()
            announce_address(settings, sockets[0].getsockname()[1])
            return await ModelLife(settings, stage, stop, clock).run()
        finally:
            lag.cancel()
            http.stop()


def server_settings(settings: ServeSettings) -> ServerSettings:
    """Return what the HTTP surface is told."""
    return ServerSettings(
        host=settings.host,
        port=settings.port,
        token=settings.token,
        allow_origins=settings.allow_origin,
        allow_hosts=settings.allow_host,
    )
