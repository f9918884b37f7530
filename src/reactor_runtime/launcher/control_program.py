"""The control plane as a part of a process: its state file, its files, its server."""

import asyncio
import socket
from dataclasses import dataclass, field
from pathlib import Path

from reactor_runtime.clock import SystemClock
from reactor_runtime.errors import AddressError
from reactor_runtime.launcher.control_api import serve_control_plane
from reactor_runtime.launcher.control_plane import ControlPlane, ControlSettings
from reactor_runtime.launcher.file_shelf import FileShelf
from reactor_runtime.launcher.job_store import JobStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlProgram:
    """What one control plane is told.

    Attributes:
        state: The SQLite file; logs and sources lie beside it.
        outputs: Folder of the jobs' outputs.
        token: What every request must bear; may be missing on loopback only.
        settings: How patient it is.
    """

    state: Path
    outputs: Path
    token: str | None = None
    settings: ControlSettings = field(default_factory=ControlSettings)

    async def run(self, listener: socket.socket, stop: asyncio.Event) -> None:
        """Serve on *listener* until *stop*."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        store = JobStore(self.state)
        shelf = FileShelf(self.state.with_name(self.state.name + ".files"), self.outputs)
        try:
            await serve_control_plane(
                lambda on_change: ControlPlane(store, SystemClock(), self.settings, on_change),
                shelf,
                listener,
                self.token,
                stop,
            )
        finally:
            store.close()


def open_listener(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        AddressError: The port is taken or the address is none of this machine's.
    """
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # The protocol is named: asyncio sets TCP_NODELAY only where it is.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(256)
        listener.setblocking(False)
    except OSError as error:
        raise AddressError(host, port, error.strerror or str(error)) from error
    return listener
