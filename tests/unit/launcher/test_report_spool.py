"""Reports wait on the disk for the control plane, through the end of the agent's process."""

import errno
import threading
from pathlib import Path

import pytest
from tests.unit.launcher.background_control import control_plane, report_of, running_job, task_of

from reactor_runtime.launcher.agent_messages import (
    Ended,
    Outcome,
    Published,
    Report,
    Started,
)
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.report_spool import ReportSpool

NOBODY = ControlClient("http://127.0.0.1:1")


@pytest.fixture
def refused() -> list[str]:
    return []


def test_what_could_not_be_sent_is_sent_in_order_by_the_next_process(
    tmp_path: Path, refused: list[str]
) -> None:
    def refuse(report: Report, reason: str) -> None:
        refused.append(reason)

    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        first = ReportSpool(tmp_path / "spool", NOBODY, refuse)
        first.put(report_of(job, 1, Published(endpoint="10.0.0.1:4000")))
        first.put(report_of(job, 2, Started()))
        assert not first.drain()
        (tmp_path / "spool" / "000000000000.json").write_text("{}")  # another version's

        again = ReportSpool(tmp_path / "spool", client, refuse)
        again.put(report_of(job, 3, Ended(outcome=Outcome.SUCCEEDED)))
        again.put(report_of(job, 3, Ended(outcome=Outcome.SUCCEEDED)))  # as after a lost answer
        again.put(report_of(job, 4, Published(endpoint="10.0.0.1:4001")))
        racing = [threading.Thread(target=again.drain) for _ in range(3)]
        for thread in racing:
            thread.start()
        for thread in racing:
            thread.join(30)
        attempt = client.job(job.job_id).attempt
        assert attempt is not None
        assert attempt.endpoint == "10.0.0.1:4000"
        assert (attempt.tasks[0].known, attempt.tasks[0].state) == ((1, 2, 3), "succeeded")
    assert len(refused) == 1  # the last one, once
    assert "takes no endpoint" in refused[0]
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_report_that_cannot_be_read_at_the_moment_is_sent_later(
    tmp_path: Path, refused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_nothing(path: Path) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        spool = ReportSpool(tmp_path / "spool", client, lambda report, why: refused.append(why))
        spool.put(report_of(job, 1, Started()))
        with monkeypatch.context() as process:
            process.setattr(Path, "read_bytes", read_nothing)
            assert not spool.drain()
        assert spool.drain()
        assert task_of(client, job).known == (1,)
    assert refused == []


def test_a_full_disk_keeps_no_report_back(
    tmp_path: Path, refused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_nothing(path: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with control_plane(tmp_path) as client:
        job = running_job(client, tmp_path)
        spool = ReportSpool(tmp_path / "spool", client, lambda report, why: refused.append(why))
        spool.put(report_of(job, 1, Started()))
        with monkeypatch.context() as disk:
            disk.setattr(Path, "write_text", write_nothing)
            spool.put(report_of(job, 2, Ended(outcome=Outcome.FAILED)))
        assert spool.drain()
        task = task_of(client, job)
        assert (task.known, task.state) == ((1, 2), "failed")
    assert refused == []
    assert list((tmp_path / "spool").iterdir()) == []
