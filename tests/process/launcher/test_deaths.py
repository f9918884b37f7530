"""What a job's own machinery may die of, and how each of these ends: in time, with a result."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest
from tests.process.launcher.cluster import SLACK_S, Cluster, bearing, running, soon, wait_for

from reactor_runtime.launcher.job_watch import result_lines
from reactor_runtime.launcher.rendezvous_store import StoreClient

pytestmark = [pytest.mark.torch, pytest.mark.timeout(400)]
LIMIT_S = 5.0  # of heartbeats


def torchrun_of(cluster: Cluster, words: str, node: int) -> int:
    lines = bearing(words)
    wanted = f"--node-rank {node} "
    return next(
        pid
        for pid, line in lines.items()
        if "torch.distributed.run" in line and wanted in line and "task_keeper" not in line
    )


@pytest.mark.parametrize("node", [0, 1])
def test_a_killed_torchrun_fails_the_job(shared: Cluster, node: int) -> None:
    job = shared.submit("act.py", "sleep", procs_per_worker=1)
    meeting = shared.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    words = f"REACTOR_ATTEMPT_ID={shared.attempt_id(job)}"
    killed_at = time.monotonic()
    os.kill(torchrun_of(shared, words, node), signal.SIGKILL)
    assert shared.seconds_until_gone(job, killed_at) < soon()
    record = shared.finish(job, "failed")
    assert record.reason == f"node {node} ended with signal SIGKILL: torchrun itself"


def test_a_torchrun_told_to_stop_fails_the_job(shared: Cluster) -> None:
    job = shared.submit("act.py", "sleep", procs_per_worker=1)
    meeting = shared.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    words = f"REACTOR_ATTEMPT_ID={shared.attempt_id(job)}"
    told_at = time.monotonic()
    os.kill(torchrun_of(shared, words, 1), signal.SIGTERM)
    assert shared.seconds_until_gone(job, told_at) < soon()
    record = shared.finish(job, "failed")
    assert record.causes[0].node_rank == 1


def test_a_killed_agent_takes_its_ranks_along_and_fails_the_job(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "sleep", procs_per_worker=1)
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    killed_at = time.monotonic()
    cluster.kill("node1")
    words = f"REACTOR_ATTEMPT_ID={cluster.attempt_id(job)}"
    wait_for(lambda: not any("--node-rank 1 " in line for line in bearing(words).values()), "gone")
    assert time.monotonic() - killed_at < soon()
    assert cluster.seconds_until_gone(job, killed_at) < 2 * LIMIT_S + soon()
    record = cluster.finish(job, "failed")
    assert "node 1: lost: no heartbeat for 5 s (agent node1 at 127.0.0.1)" in record.reason


def test_a_stopped_agent_is_lost_and_ends_its_task_when_it_wakes(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "sleep", procs_per_worker=1)
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    cluster.kill("node1", signal.SIGSTOP)
    stopped_at = time.monotonic()
    record = cluster.finish(job, "failed")
    assert time.monotonic() - stopped_at < 2 * LIMIT_S + soon()
    assert "lost" in record.reason
    cluster.kill("node1", signal.SIGCONT)
    woken_at = time.monotonic()
    assert cluster.seconds_until_gone(job, woken_at) < soon(7)


def test_the_task_of_a_stopped_agent_ends_without_it() -> None:
    with running(2, 1, "--control-timeout", "4") as cluster:
        job = cluster.submit("act.py", "sleep")
        meeting = cluster.meeting(job)
        wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
        cluster.kill("node1", signal.SIGSTOP)
        stopped_at = time.monotonic()
        assert cluster.seconds_until_gone(job, stopped_at) < 2 * LIMIT_S + soon()
        assert "lost" in cluster.finish(job, "failed").reason


def test_an_agent_told_to_stop_fails_its_job_at_once(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "sleep", procs_per_worker=1)
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    told_at = time.monotonic()
    cluster.kill("node0", signal.SIGTERM)
    assert cluster.seconds_until_gone(job, told_at) < soon()
    record = cluster.finish(job, "failed")
    assert record.reason == "node 0: its agent was told to stop"
    assert cluster.processes["node0"].wait(15) == 0
    said = cluster.folder / "control-plane.log"
    wait_for(lambda: "agent_left" in said.read_text(), "its leaving is noted")
    assert "agent_lost" not in said.read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_outlives_its_control_plane(cluster: Cluster, number: int) -> None:
    job = cluster.submit("act.py", "wait", procs_per_worker=2, outputs=["began-*.txt", "none-*"])
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 4, "all ranks run")
    cluster.kill("control-plane", number)
    cluster.processes["control-plane"].wait(10)
    before = set(cluster_ranks(cluster))
    (meeting / "go").touch()
    wait_for(lambda: not cluster_ranks(cluster), "the ranks end without a control plane")
    cluster.start_control_plane()
    record = cluster.finish(job)
    assert "  no output: 'none-*' matches no file of nodes 0 to 1" in result_lines(record)
    assert len(before) == 4
    assert len(record.attempts) == 1
    began = sorted(p.name for p in (cluster.outputs / job.job_id).glob("node*/*"))
    assert began == [f"began-{r}.txt" for r in range(4)]


def test_an_agent_of_a_living_ones_name_is_refused_and_hurts_nobody(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "wait", outputs=["began-*.txt"])
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    work = str(cluster.folder / "namesake")
    namesake = cluster.start_agent("node1", "--work-dir", work, log="namesake")
    assert namesake.wait(60) == 1
    said = (cluster.folder / "namesake.log").read_text()
    assert "an agent named node1 is alive at 127.0.0.1; start this one with another --name" in said
    twin = cluster.start_agent("node1", log="twin")  # with the same work folder
    assert twin.wait(60) == 2
    said = (cluster.folder / "twin.log").read_text()
    assert "which another agent has; wanted a --name of its own" in said
    (meeting / "go").touch()
    cluster.finish(job)
    outputs = (cluster.outputs / job.job_id).glob("node*/*")
    assert sorted(p.name for p in outputs) == ["began-0.txt", "began-1.txt"]


def test_an_agent_that_was_killed_is_taken_in_again_at_once(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "sleep", procs_per_worker=1)
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    cluster.kill("node1")
    cluster.start_agent("node1", "--procs", "2")
    record = cluster.finish(job, "failed")
    assert record.reason.startswith("node 1: ")  # lost, where its start took longer than that
    cluster.finish(cluster.submit("gloo.py", "sum", procs_per_worker=2))  # none of its is busy


def test_a_node_that_never_joins_is_named_and_torchrun_starts_nowhere(cluster: Cluster) -> None:
    wait_for(lambda: all(map(cluster.client.is_known, ("node0", "node1"))), "both are there")
    cluster.kill("node1", signal.SIGSTOP)
    job = cluster.submit("act.py", "sleep", rendezvous={"join_timeout_s": 2})
    words = f"REACTOR_ATTEMPT_ID={cluster.attempt_id(job)}"
    submitted_at = time.monotonic()
    while not (record := cluster.client.job(job.job_id)).state.is_final:
        assert bearing(words) == {}
        assert time.monotonic() - submitted_at < soon(SLACK_S)
        time.sleep(0.05)
    assert record.reason == "node 0: node 1 (127.0.0.1) did not join within 2 s"
    assert "lost" in record.causes[1].message
    cluster.kill("node1", signal.SIGCONT)
    cluster.finish(cluster.submit("act.py", "environment"))


def test_node_0_keeps_the_store_until_the_attempt_is_over(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "sleep")
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    attempt = cluster.client.job(job.job_id).attempt
    assert attempt is not None
    assert attempt.endpoint is not None
    lines = cluster.processes_of(job).items()
    keeper = next(pid for pid, line in lines if "task_keeper" in line and "-rank 1 " in line)
    os.kill(keeper, signal.SIGSTOP)  # node 1 cannot end
    try:
        cluster.client.cancel(job.job_id)
        ends = lambda: has_delivered(cluster, job.job_id, 0)  # noqa: E731
        wait_for(ends, "node 0 has ended and delivered")
        assert StoreClient(attempt.endpoint, attempt.attempt_id, 30).has("go")
        assert cluster.client.job(job.job_id).state == "stopping"
    finally:
        os.kill(keeper, signal.SIGCONT)
    cluster.finish(job, "cancelled")
    wait_for(lambda: is_refused(str(attempt.endpoint)), "the store is gone")


def has_delivered(cluster: Cluster, job_id: str, node: int) -> bool:
    attempt = cluster.client.job(job_id).attempt
    return attempt is not None and attempt.tasks[node].is_delivered


def is_refused(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 5).close()
    except ConnectionRefusedError:
        return True
    return False


MOVED = """
import os, time
true_time = time.time
time.time = lambda: true_time() + (3600 if os.path.exists({file!r}) else 0)
"""


def test_a_moved_wall_clock_loses_nobody(tmp_path: Path) -> None:
    """The control plane's and the agents', forth and back."""
    moved = tmp_path / "moved"
    (tmp_path / "sitecustomize.py").write_text(MOVED.format(file=str(moved)))
    prefix = ("env", f"PYTHONPATH={tmp_path}")
    with running(0) as cluster:
        cluster.kill("control-plane", signal.SIGTERM)
        cluster.start_control_plane(prefix=prefix)
        for number in range(2):
            cluster.start_agent(f"node{number}", "--procs", "2", prefix=prefix)
        job = cluster.submit("act.py", "wait")
        meeting = cluster.meeting(job)
        wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
        moved.touch()
        time.sleep(2 * LIMIT_S)  # whoever believed that clock would have judged by now
        other = cluster.submit("act.py", "environment")
        assert other.submitted_at > job.submitted_at + 3600
        cluster.finish(other)
        moved.unlink()
        time.sleep(2 * LIMIT_S)
        assert cluster.client.job(job.job_id).state == "running"
        (meeting / "go").touch()
        cluster.finish(job)


def cluster_ranks(cluster: Cluster) -> list[int]:
    return [
        pid
        for pid, line in bearing(cluster.mark).items()
        if "rank_entry" in line and " -u " in line
    ]


def test_a_paused_control_plane_loses_nobody(cluster: Cluster) -> None:
    job = cluster.submit("act.py", "wait", procs_per_worker=1)
    meeting = cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    cluster.kill("control-plane", signal.SIGSTOP)
    time.sleep(4 * LIMIT_S)  # the pause itself is what is tested
    cluster.kill("control-plane", signal.SIGCONT)
    time.sleep(2)
    assert cluster.client.job(job.job_id).state == "running"
    (meeting / "go").touch()
    cluster.finish(job)


def test_agents_without_contact_end_their_tasks() -> None:
    with running(2, 1, "--control-timeout", "4") as cluster:
        job = cluster.submit("act.py", "sleep", procs_per_worker=1)
        meeting = cluster.meeting(job)
        wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
        attempt = cluster.attempt_id(job)
        cluster.kill("control-plane")
        silent_at = time.monotonic()
        wait_for(lambda: not bearing(f"REACTOR_ATTEMPT_ID={attempt}"), "ended without contact")
        assert time.monotonic() - silent_at < 4 + 2 + soon()
        cluster.start_control_plane("--control-timeout", "4")
        record = cluster.finish(job, "failed")
        assert "no contact with the control plane for" in record.reason
