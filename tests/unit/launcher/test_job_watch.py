"""What a follower of a job holds in memory is bounded, and nothing is lost."""

from pathlib import Path

from tests.unit.launcher.background_control import control_plane, running_job

from reactor_runtime.launcher.job_watch import JobWatch

LINE = b"[j node0 rank0] " + b"x" * 83 + b"\n"


def test_a_large_log_comes_in_pieces(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        assert job.attempt is not None
        log = tmp_path / "s.files" / "logs" / f"{job.attempt.attempt_id}.node0.log"
        log.write_bytes(LINE * 200_000)  # 20 MB
        glances = list(JobWatch(client, job.job_id).so_far())
    assert max(len(glance.lines) for glance in glances) < 10 * 1024**2
    assert b"".join(glance.lines for glance in glances) == LINE * 200_000
    assert [glance.is_whole for glance in glances] == [*[False] * (len(glances) - 1), True]


def test_other_nodes_lines_are_left_out(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        assert job.attempt is not None
        log = tmp_path / "s.files" / "logs" / f"{job.attempt.attempt_id}.node0.log"
        log.write_bytes(LINE)
        assert JobWatch(client, job.job_id, node_rank=1).look().lines == b""
        watch = JobWatch(client, job.job_id, node_rank=0)
        assert (watch.look().lines, watch.look().lines) == (LINE, b"")


def test_a_line_is_shown_once_it_is_whole(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        assert job.attempt is not None
        log = tmp_path / "s.files" / "logs" / f"{job.attempt.attempt_id}.node0.log"
        log.write_bytes(LINE + LINE[:40])
        watch = JobWatch(client, job.job_id)
        assert (watch.look().lines, watch.look().lines) == (LINE, b"")
        log.write_bytes(LINE * 2)
        assert watch.look().lines == LINE
