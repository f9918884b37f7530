"""HttpServer: an ASGI application on sockets that are open already, for as long as it is told."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from reactor_runtime.patience import ImpatientProtocol, accepted_at_once, impatient_protocol

DRAIN_S = 2


class HttpServer:
    """Runs *app*; leaves signals, logging and the loop to whoever runs it.

    Args:
        app: Answers.
        protocol: How connections are read; they share its limits.
    """

    def __init__(self, app: ASGIApp, protocol: type[ImpatientProtocol] | None = None) -> None:
        config = uvicorn.Config(
            app,
            http=protocol or impatient_protocol(),
            backlog=accepted_at_once(),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=DRAIN_S,
        )
        self._server = _QuietServer(config)
        logging.getLogger("uvicorn.error").addFilter(_is_news)

    async def serve(self, sockets: Sequence[socket.socket]) -> None:
        """Answer on *sockets* until ``stop``, then let open requests end within ``DRAIN_S``."""
        await self._server.serve(list(sockets))

    async def wait_until_up(self) -> None:
        """Return once requests are answered."""
        await self._server.up.wait()

    def stop(self) -> None:
        """Take no more requests and end."""
        self._server.should_exit = True
        self._server.stop_asked.set()


class _QuietServer(uvicorn.Server):
    """A uvicorn server that waits for its end instead of looking for it ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self.stop_asked = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the process."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end."""
        await self.on_tick(0)
        self.up.set()
        await self.stop_asked.wait()


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether *record* says more than whoever broke a response off has said already."""
    return "returned without completing response" not in record.getMessage()
