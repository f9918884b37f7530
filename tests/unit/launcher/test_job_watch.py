"""What a follower of a job holds in memory is bounded, and nothing is lost."""

from pathlib import Path

import pytest
from tests.unit.launcher.background_control import control_plane, report_of, running_job

from reactor_runtime.launcher.agent_messages import Delivered, Ended, Outcome
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.job_record import AttemptRecord, JobRecord, TaskRecord
from reactor_runtime.launcher.job_state import JobState
from reactor_runtime.launcher.job_watch import JobWatch, result_lines

LINE = b"[j node0 rank0] " + b"x" * 83 + b"\n"


def log_of(job: JobRecord, folder: Path) -> Path:
    """Where the control plane in *folder* keeps what node 0 of the job's attempt wrote."""
    assert job.attempt is not None
    return folder / "s.files" / "logs" / f"{job.attempt.attempt_id}.node0.log"


def test_a_large_log_comes_in_pieces(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        log = log_of(job, tmp_path)
        log.write_bytes(LINE * 200_000)  # 20 MB
        glances = list(JobWatch(client, job.job_id).so_far())
    assert max(len(glance.lines) for glance in glances) < 10 * 1024**2
    assert b"".join(glance.lines for glance in glances) == LINE * 200_000
    assert [glance.is_whole for glance in glances] == [*[False] * (len(glances) - 1), True]


def test_other_nodes_lines_are_left_out(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        log = log_of(job, tmp_path)
        log.write_bytes(LINE)
        assert JobWatch(client, job.job_id, node_rank=1).look().lines == b""
        watch = JobWatch(client, job.job_id, node_rank=0)
        assert (watch.look().lines, watch.look().lines) == (LINE, b"")


@pytest.mark.parametrize(
    ("nodes", "note"),
    [
        ([("a-*", "b-*"), ("b-*",)], "  no output: 'b-*' matches no file of nodes 0 to 1"),
        ([("a-*",)], "  no output: 'a-*' matches no file of node 0"),
        ([("a-*",), ("b-*",)], None),
        ([(), ()], None),
    ],
)
def test_outputs_that_match_nothing_anywhere_are_said(
    nodes: list[tuple[str, ...]], note: str | None
) -> None:
    tasks = [
        TaskRecord(
            node_rank=rank,
            agent_id=f"agent{rank}",
            incarnation="1",
            address="10.0.0.1",
            interface="eth0",
            procs=1,
            unmatched=unmatched,
        )
        for rank, unmatched in enumerate(nodes)
    ]
    record = JobRecord(
        job_id="j-1",
        number=1,
        job=DistributedJob(name="j", entrypoint="t.py", outputs=("a-*", "b-*")),
        source="0" * 64,
        submitted_at=0.0,
        state=JobState.SUCCEEDED,
        attempts=(AttemptRecord(attempt_id="j-1.1", number=1, tasks=tuple(tasks)),),
    )
    assert result_lines(record) == ["job j-1 succeeded", *([note] if note else [])]
    failed = record.model_copy(update={"state": JobState.FAILED, "reason": "no"})
    assert result_lines(failed) == ["job j-1 failed: no"]


def test_a_line_is_shown_once_it_is_whole(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        log = log_of(job, tmp_path)
        log.write_bytes(LINE + LINE[:40])
        watch = JobWatch(client, job.job_id)
        assert (watch.look().lines, watch.look().lines) == (LINE, b"")
        log.write_bytes(LINE * 2)
        assert watch.look().lines == LINE


def test_a_line_that_never_ends_is_shown_when_the_job_is_over(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        log = log_of(job, tmp_path)
        log.write_bytes(LINE + LINE[:40])
        watch = JobWatch(client, job.job_id)
        assert watch.look().lines == LINE
        client.cancel(job.job_id)
        client.report(report_of(job, 1, Ended(outcome=Outcome.CANCELLED)))
        client.report(report_of(job, 2, Delivered()))
        glances = list(watch.follow(lambda _: None))
    assert b"".join(glance.lines for glance in glances) == LINE[:40] + b"\n"
