"""Connections that say nothing never use up a process's descriptors, however few it has."""

import contextlib
import os
import resource
import socket

from tests.e2e.serving import Served, serving
from tests.limits import limited

MODEL = "tests.models.breaks_in_load:BreaksInLoad"
DESCRIPTORS = 160


def descriptors(served: Served) -> int:
    return len(os.listdir(f"/proc/{served.process.pid}/fd"))


def test_silent_connections_leave_room_for_the_rest() -> None:
    with contextlib.ExitStack() as stack:
        with limited(resource.RLIMIT_NOFILE, DESCRIPTORS):
            served = stack.enter_context(serving(MODEL))
        port = int(served.url.rpartition(":")[2])
        for _ in range(3 * DESCRIPTORS):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        assert served.get("/health", timeout_s=20)[0] == 200
        assert descriptors(served) < DESCRIPTORS // 2
        assert served.stop() == 0
        assert "Too many open files" not in served.log()
