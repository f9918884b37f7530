"""Many jobs, few nodes; many lines, none lost; stale variables; nodes that do not meet."""

import socket
import time
from pathlib import Path

import pytest
from tests.process.launcher.cluster import Cluster, running, soon, wait_for

from reactor_runtime.launcher.job_record import JobRecord

pytestmark = [pytest.mark.torch, pytest.mark.timeout(900)]


def test_twenty_jobs_queue_in_order_and_never_use_more_than_is_offered(shared: Cluster) -> None:
    jobs = [shared.submit("gloo.py", "sum", outputs=["sum-*.txt"]) for _ in range(20)]
    began: list[str] = []
    deadline = time.monotonic() + 800
    while True:
        records = {r.job_id: r for r in shared.client.jobs()}
        ours = [records[j.job_id] for j in jobs]
        began += [r.job_id for r in ours if r.attempts and r.job_id not in began]
        assert busy_procs(list(records.values())) <= 4
        if all(r.state.is_final for r in ours):
            break
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert [r.state for r in ours] == ["succeeded"] * 20
    assert began == [j.job_id for j in jobs]
    for job in jobs:
        folder = shared.outputs / job.job_id
        sums = {str(p.relative_to(folder)): p.read_text() for p in folder.glob("node*/*")}
        assert sums == {"node0/sum-0.txt": "1\n", "node1/sum-1.txt": "1\n"}


def busy_procs(records: list[JobRecord]) -> int:
    return sum(t.procs for r in records for a in r.attempts for t in a.tasks if not t.is_free)


def test_every_line_arrives_and_is_tagged(shared: Cluster) -> None:
    job = shared.submit("act.py", "flood", "-1", "5000", procs_per_worker=2)
    shared.finish(job)
    for node in range(2):
        lines = shared.words(job, node).splitlines()
        for rank in (2 * node, 2 * node + 1):
            tag = f"[job node{node} rank{rank}] "
            mine = [line.removeprefix(tag) for line in lines if line.startswith(tag)]
            wanted = [f"line {n} of rank {rank}" for n in range(5000)]
            assert mine == [*wanted, "no end of line"]
        assert all(line.startswith(f"[job node{node} ") for line in lines)


def test_a_port_that_is_taken_fails_the_job_before_torchrun(shared: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        job = shared.submit("act.py", "wait", rendezvous={"port": port})
        record = shared.finish(job, "failed")
    words = f"cannot listen on 127.0.0.1 port {port}: Address already in use"
    assert record.reason == f"node 0: {words}"


def test_a_port_that_is_asked_for_is_used(shared: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    record = shared.finish(shared.submit("act.py", "environment", rendezvous={"port": port}))
    assert record.attempt is not None
    assert record.attempt.endpoint == f"127.0.0.1:{port}"


def test_a_busy_interpreter_is_no_silence(shared: Cluster) -> None:
    """Four times as long as the limit of heartbeats."""
    shared.finish(shared.submit("act.py", "busy", "-1", "20"))


def test_cancel_ends_what_runs(shared: Cluster) -> None:
    job = shared.submit("act.py", "sleep", procs_per_worker=2)
    meeting = shared.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 4, "all ranks run")
    shared.client.cancel(job.job_id)
    assert shared.seconds_until_gone(job, time.monotonic()) < soon()
    shared.finish(job, "cancelled")


def test_a_job_starts_again_from_its_newest_checkpoint(shared: Cluster, tmp_path: Path) -> None:
    block = {"path": str(tmp_path), "resume": True, "max_attempts": 3}
    job = shared.submit("resumes.py", str(tmp_path), checkpoint=block)
    record = shared.finish(job)
    attempts = record.attempts
    assert len({a.attempt_id for a in attempts}) == len({a.endpoint for a in attempts}) == 3
    assert (tmp_path / "trace").read_text().split() == ["None", "step-1", "step-2"]


def test_stale_variables_reach_nobody() -> None:
    stale = {
        "MASTER_ADDR": "10.255.255.1", "MASTER_PORT": "1", "RANK": "7", "WORLD_SIZE": "9",
        "PET_NNODES": "5", "PET_RDZV_BACKEND": "c10d", "TORCHELASTIC_RUN_ID": "old",
    }  # fmt: skip
    with running(0) as cluster:
        for number in range(2):
            cluster.start_agent(f"node{number}", **stale)
        job = cluster.submit("act.py", "environment")
        cluster.finish(job)
        words = cluster.words(job)
    assert "MASTER_ADDR=127.0.0.1" in words
    assert "WORLD_SIZE=2" in words
    assert words.count("PET_NNODES=None") == words.count("PET_RDZV_BACKEND=None") == 2
