"""Connections that say nothing never use up a process's descriptors, however few it has."""

import contextlib
import os
import resource
import socket
from collections.abc import Iterator

from tests.e2e.serving import Served, serving

MODEL = "tests.models.breaks_in_load:BreaksInLoad"
DESCRIPTORS = 160


@contextlib.contextmanager
def few_descriptors() -> Iterator[None]:
    """What is started inside may open only a few files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def descriptors(served: Served) -> int:
    return len(os.listdir(f"/proc/{served.process.pid}/fd"))


def test_silent_connections_leave_room_for_the_rest() -> None:
    with contextlib.ExitStack() as stack:
        with few_descriptors():
            served = stack.enter_context(serving(MODEL))
        port = int(served.url.rpartition(":")[2])
        for _ in range(3 * DESCRIPTORS):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        assert served.get("/health", timeout_s=20)[0] == 200
        assert descriptors(served) < DESCRIPTORS // 2
        assert served.stop() == 0
        assert "Too many open files" not in served.log()
