"""The control plane as a part of a process: its state file, its files, its server."""

import asyncio
import contextlib
import queue
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reactor_runtime.clock import SystemClock
from reactor_runtime.launcher.control_api import serve_control_plane
from reactor_runtime.launcher.control_plane import ControlPlane, ControlSettings
from reactor_runtime.launcher.file_shelf import FileShelf
from reactor_runtime.launcher.job_store import JobStore

_START_S = 30.0
_END_S = 5.0


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

    async def run(self, listeners: Sequence[socket.socket], stop: asyncio.Event) -> None:
        """Serve on *listeners* until *stop*."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        store = JobStore(self.state)
        shelf = FileShelf(self.state.with_name(self.state.name + ".files"), self.outputs)
        try:
            plane = ControlPlane(store, SystemClock(), self.settings, shelf.has_outputs)
            await serve_control_plane(plane, shelf, listeners, self.token, stop)
        finally:
            store.close()

    @contextlib.contextmanager
    def in_background(self, listeners: Sequence[socket.socket]) -> Iterator[None]:
        """Serve on *listeners* from a thread of its own, as long as the context lasts."""
        started: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]]
        started = queue.SimpleQueue()

        async def serve() -> None:
            stop = asyncio.Event()
            started.put((asyncio.get_running_loop(), stop))
            await self.run(listeners, stop)

        thread = threading.Thread(target=asyncio.run, args=(serve(),), name="control-plane")
        thread.start()
        loop, stop = started.get(timeout=_START_S)
        try:
            yield
        finally:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(stop.set)
            thread.join(_END_S)
