"""What a running job listens on, and what strangers' bytes do to it there."""

import contextlib
import secrets
import socket
import struct
from pathlib import Path

import pytest
from tests.bomb import pickled_bomb
from tests.e2e.process_figures import listening
from tests.process.launcher.cluster import Cluster, bearing

from reactor_runtime.errors import ControlPlaneError
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.job_record import JobRecord

pytestmark = [pytest.mark.torch, pytest.mark.timeout(500)]
Places = dict[tuple[str, int], list[int]]


def places_of(cluster: Cluster) -> Places:
    """Return who listens where, of everything that the cluster has started."""
    found: Places = {}
    for pid in bearing(cluster.mark):
        with contextlib.suppress(OSError):
            for place in listening(pid):
                found.setdefault(place, []).append(pid)
    return found


def running_job(cluster: Cluster) -> JobRecord:
    job = cluster.submit("gloo.py", "steps", "600", procs_per_worker=2)
    meeting = cluster.meeting(job)
    cluster.wait_in(job, lambda: len(list(meeting.glob("summed-*"))) == 4, "all have summed")
    return job


def resident_kb(pids: list[int]) -> int:
    rows = [Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split() for pid in pids]
    return sum(int(row[0]) for row in rows)


def junk(marker: Path) -> list[bytes]:
    bomb = pickled_bomb(marker)
    return [
        bomb,
        struct.pack(">Q", len(bomb)) + bomb,
        struct.pack("<Q", 1 << 30) + b"x" * 1000,
        struct.pack(">I", 1 << 30) + b"x" * 1000,
        b"\x00" + struct.pack("<Q", 1 << 30) + b"k",  # a store's key of 1 GiB that never comes
        secrets.token_bytes(100_000),
    ]


def test_a_running_job_listens_on_loopback_only_and_bears_what_strangers_send(
    shared: Cluster, tmp_path: Path
) -> None:
    job = running_job(shared)
    places = places_of(shared)
    record = shared.client.job(job.job_id)
    assert record.attempt is not None
    assert record.attempt.endpoint is not None
    store = int(record.attempt.endpoint.rpartition(":")[2])
    assert {address for address, _ in places} == {"127.0.0.1"}
    assert {("127.0.0.1", shared.port), ("127.0.0.1", store)} <= places.keys()

    marker = tmp_path / "marker"
    pids = [pid for owners in places.values() for pid in owners]
    before = resident_kb(pids)
    held = [(place, stranger(place, words)) for place in places for words in junk(marker)]
    assert len(held) >= 6 * 6  # the control plane, the store, and each rank's end of its group
    for name, token in (("no token", None), ("a wrong token", "w" * 32)):
        with pytest.raises(ControlPlaneError, match="a valid token is required"):
            ControlClient(shared.url, token).cancel(job.job_id)
        assert shared.client.job(job.job_id).state == "running", name
    grown = resident_kb(pids) - before
    for (_, port), connection in held:
        with connection:
            if port == shared.port:  # ours; what torch has opened waits for more
                assert_closed(connection)

    assert grown < 64 * 1024
    assert not marker.exists()
    words = shared.words(job)
    assert "Error" not in words, words
    assert shared.client.job(job.job_id).state == "running"
    assert len(shared.processes_of(job)) >= 4
    shared.client.cancel(job.job_id)
    shared.finish(job, "cancelled")


def assert_closed(connection: socket.socket) -> None:
    connection.settimeout(30)
    answer = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            answer += part
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")


def stranger(place: tuple[str, int], words: bytes) -> socket.socket:
    """Say *words* there, and stay: whoever waits for more must go on with its own work."""
    connection = socket.create_connection(place, timeout=10)
    with contextlib.suppress(ConnectionError):
        connection.sendall(words)
    return connection
