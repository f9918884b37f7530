"""One rank fails: the whole job fails, everywhere, soon, and the first cause is named."""

import signal
import time

import pytest
from tests.process.launcher.cluster import Cluster, moment, soon, wait_for

from reactor_runtime.launcher.failures import Gravity
from reactor_runtime.launcher.job_watch import exit_status, result_lines

pytestmark = [pytest.mark.torch, pytest.mark.timeout(400)]


@pytest.mark.parametrize(
    ("act", "rank", "exit_code", "kind", "said"),
    [
        (("raise", "3"), 3, 1, "ValueError", "this rank will not"),
        (("exit", "1", "7"), 1, 7, "", ""),
        (("kill", "2"), 2, -signal.SIGKILL, "", ""),
    ],
    ids=["raise", "exit 7", "SIGKILL"],
)
def test_a_failing_rank_ends_the_job_on_both_nodes(
    shared: Cluster, act: tuple[str, ...], rank: int, exit_code: int, kind: str, said: str
) -> None:
    job = shared.submit("act.py", *act, procs_per_worker=2, outputs=["began-*.txt"])
    acted = shared.meeting(job) / "acted"
    assert shared.seconds_until_gone(job, moment(acted)) < soon()
    record = shared.finish(job, "failed")
    cause = record.causes[0]
    assert (cause.node_rank, cause.rank, cause.exit_code) == (rank // 2, rank, exit_code)
    assert (cause.kind, cause.message) == (kind, said)
    assert ("raise ValueError" in cause.traceback) == bool(kind)
    assert "rank_entry" not in cause.traceback  # it begins in the script
    assert exit_status(record) == 1
    assert f"node {rank // 2}, rank {rank}" in result_lines(record)[0]
    began = sorted(p.name for p in (shared.outputs / job.job_id).glob("node*/*"))
    assert began == [f"began-{r}.txt" for r in range(4)]
    assert f"node{rank // 2} rank{rank}] rank {rank} acts: {act[0]}" in shared.words(job)


def test_peers_that_lost_a_connection_are_listed_under_the_cause(shared: Cluster) -> None:
    job = shared.submit("gloo.py", "raise", "3", procs_per_worker=2)
    record = shared.finish(job, "failed")
    assert (record.causes[0].rank, record.causes[0].kind) == (3, "ValueError")
    assert record.reason == "node 1, rank 3 raised ValueError: this rank will not (exit code 1)"
    assert all(cause.gravity > record.causes[0].gravity for cause in record.causes[1:])


def test_peers_that_give_up_by_themselves_are_no_first_cause(shared: Cluster) -> None:
    record = shared.finish(shared.submit("gloo.py", "give-up", "1"), "failed")
    assert record.reason == "node 1, rank 1 raised ValueError: this rank will not (exit code 1)"
    assert [(cause.rank, cause.exit_code) for cause in record.causes[1:]] in ([(0, 3)], [(0, -15)])


def test_a_failed_rank_waits_for_none_of_its_threads(shared: Cluster) -> None:
    job = shared.submit("act.py", "thread", "1")
    acted = shared.meeting(job) / "acted"
    assert shared.seconds_until_gone(job, moment(acted)) < soon()
    assert shared.finish(job, "failed").causes[0].kind == "ValueError"
    words = shared.words(job)
    assert "what was to be done at exit is done" in words
    assert "ValueError: this rank will not" in words


def test_a_rank_that_leaves_early_has_succeeded_and_its_peers_fail(shared: Cluster) -> None:
    """As documented, and everywhere."""
    job = shared.submit("gloo.py", "leave", "3", procs_per_worker=2)
    acted = shared.meeting(job) / "acted"
    assert shared.seconds_until_gone(job, moment(acted)) < soon(15)
    record = shared.finish(job, "failed")
    assert exit_status(record) == 1
    cause = record.causes[0]
    assert cause.rank in {0, 1, 2}
    assert cause.gravity is Gravity.COLLECTIVE
    assert "rank 3 of 4: the sum is 6" in shared.words(job)  # the log is kept


def test_a_hang_ends_with_the_groups_time_out(shared: Cluster) -> None:
    limit_s = soon(6.0)  # which is all the time that ranks have to find each other, too
    job = shared.submit("gloo.py", "hang", "1", procs_per_worker=2, comm_timeout_s=limit_s)
    acted = shared.meeting(job) / "acted"
    assert shared.seconds_until_gone(job, moment(acted)) < limit_s + soon()
    record = shared.finish(job, "failed")
    assert record.causes[0].rank in {0, 2, 3}


def test_what_a_dead_rank_has_started_goes_with_it(shared: Cluster) -> None:
    job = shared.submit("act.py", "grandchild", "0")
    acted = shared.meeting(job) / "acted"
    assert shared.seconds_until_gone(job, moment(acted)) < soon()
    shared.finish(job, "failed")


def test_ranks_that_ignore_sigterm_are_killed(shared: Cluster) -> None:
    job = shared.submit("act.py", "stubborn", "1", "", procs_per_worker=1)
    wait_for(lambda: (shared.meeting(job) / "acted").exists(), "the ranks ignore SIGTERM")
    shared.client.cancel(job.job_id)
    assert shared.seconds_until_gone(job, time.monotonic()) < soon()
    shared.finish(job, "cancelled")


def test_a_job_past_its_time_fails(shared: Cluster) -> None:
    job = shared.submit("act.py", "wait", timeout_s=4)
    record = shared.finish(job, "failed")
    assert "ran longer than timeout_s, 4 s" in record.reason
