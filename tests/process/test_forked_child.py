"""A model's own processes may outlive the server, but never keep its port."""

import contextlib
import os
import signal
import socket
from pathlib import Path

from tests.e2e.serving import serving


def test_the_port_is_free_once_the_server_is_gone(tmp_path: Path) -> None:
    child = tmp_path / "child"
    with serving("tests.models.forks_a_child:ForksAChild", CHILD=str(child)) as served:
        port = int(served.url.rpartition(":")[2])
        pid = int(child.read_text())
        try:
            served.stop(signal.SIGKILL)
            os.kill(pid, 0)  # it is still there
            with socket.socket() as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", port))
                listener.listen()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
