"""Of many failures, the first cause comes first."""

import json
from pathlib import Path

import pytest

from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.exit_reports import exit_codes, rank_failures
from reactor_runtime.launcher.failures import Gravity, RankFailure, first_cause
from reactor_runtime.launcher.plan import plan_group

CLOSED = RankFailure(
    node_rank=0, rank=0, exit_code=1, kind="RuntimeError",
    message="[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer",
)  # fmt: skip
LOST = RankFailure(node_rank=1, message="lost: no heartbeat for 5 s")
KILLED = RankFailure(node_rank=1, rank=2, exit_code=-9)
RAISED = RankFailure(node_rank=1, rank=3, exit_code=1, kind="ValueError", message="no")
STOPPED = RankFailure(node_rank=0, rank=1, exit_code=-15)

SUMMARY = """\
E1130 12:00:00.000000 99 torch/distributed/elastic/multiprocessing/api.py:986] failed \
(exitcode: -9) local_rank: 1 (pid: 4242) of binary: /usr/bin/python3
============================================================
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_12:00:00
  host      : localhost
  rank      : 3 (local_rank: 1)
  exitcode  : -9 (pid: 4242)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 4242
============================================================
"""


@pytest.mark.parametrize(
    ("failure", "gravity"),
    [
        (CLOSED, Gravity.COLLECTIVE),
        (LOST, Gravity.NODE),
        (KILLED, Gravity.OWN),
        (RAISED, Gravity.OWN),
        (STOPPED, Gravity.STOPPED),
        (RankFailure(node_rank=0, rank=0, kind="DistBackendError", message="x"), 2),
        (RankFailure(node_rank=0, rank=0, kind="FileNotFoundError", message="gloo/a.txt"), 0),
        (RankFailure(node_rank=0, rank=0, kind="ValueError", message="Connection refused"), 0),
        (RankFailure(node_rank=0, rank=0, kind="RuntimeError", message="no gloo here"), 0),
        (RankFailure(node_rank=0, rank=0, kind="ConnectionResetError", message="Broken pipe"), 2),
        (RankFailure(node_rank=0, rank=0, kind="RuntimeError", message="Timed out waiting 5ms"), 2),
    ],
)
def test_how_near_a_failure_is_to_the_cause(failure: RankFailure, gravity: Gravity) -> None:
    assert failure.gravity == gravity


def test_the_cause_comes_first_and_time_decides_among_equals() -> None:
    order = first_cause([STOPPED, CLOSED, LOST, RAISED, KILLED])
    assert order == (RAISED, KILLED, LOST, CLOSED, STOPPED)
    raised = RAISED.model_copy(update={"at": 1000.25})
    gave_up = RankFailure(node_rank=0, rank=0, exit_code=3, at=1000.5)  # and exited by itself
    assert first_cause([gave_up, raised]) == (raised, gave_up)
    assert first_cause([gave_up, raised, KILLED])[0] == KILLED


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (RAISED, "node 1, rank 3 raised ValueError: no (exit code 1)"),
        (KILLED, "node 1, rank 2 ended with signal SIGKILL"),
        (LOST, "node 1: lost: no heartbeat for 5 s"),
        (RankFailure(node_rank=0, rank=1, exit_code=7), "node 0, rank 1 ended with exit code 7"),
        (RankFailure(node_rank=0), "node 0: failed without a word"),
        (
            RankFailure(
                node_rank=0,
                rank=0,
                exit_code=1,
                kind="RuntimeError",
                message="[/__w/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error "
                "[127.0.0.1]:52424: Connection reset by peer. This is typically caused by a remote "
                "worker hanging or bugs in the application. Check the logs of the remote worker "
                "before reporting an error. GLHF! \U0001f3d6\ufe0f",
            ),
            "node 0, rank 0 raised RuntimeError: Read error [127.0.0.1]:52424: Connection reset by "
            "peer (exit code 1)",
        ),
    ],
)
def test_a_failure_in_words(failure: RankFailure, sentence: str) -> None:
    assert failure.sentence == sentence


def test_exit_codes_that_torchrun_names() -> None:
    assert exit_codes(SUMMARY) == {1: -9}
    assert exit_codes(SUMMARY.partition("====")[0]) == {1: -9}
    assert exit_codes("all is well") == {}


def test_reports_and_exit_codes_are_put_together(tmp_path: Path) -> None:
    task = plan_group(DistributedJob(name="j", num_workers=2, procs_per_worker=2, entrypoint="t"))
    folder = tmp_path / "run_x" / "attempt_0" / "0"
    folder.mkdir(parents=True)
    extra = {"py_callstack": "Traceback …", "exit_code": 1, "time_s": 12.5}
    report = {"message": {"message": "KeyError: 'a'", "extraInfo": extra}}
    (folder / "error.json").write_text(json.dumps(report))
    log = tmp_path / "torchrun.log"
    log.write_text(SUMMARY)
    assert rank_failures(task[1], tmp_path, log) == [
        RankFailure(
            node_rank=1, rank=2, exit_code=1, kind="KeyError", message="'a'",
            traceback="Traceback …", at=12.5,
        ),
        RankFailure(node_rank=1, rank=3, exit_code=-9),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", "[]", '{"message": {}}', '{"message": null}'])
def test_a_broken_report_is_no_report(tmp_path: Path, text: str) -> None:
    task = plan_group(DistributedJob(name="j", entrypoint="t"))[0]
    folder = tmp_path / "run_x" / "attempt_0" / "0"
    folder.mkdir(parents=True)
    (folder / "error.json").write_text(text)
    failures = rank_failures(task, tmp_path, tmp_path / "none")
    assert all(failure.rank == 0 for failure in failures)
