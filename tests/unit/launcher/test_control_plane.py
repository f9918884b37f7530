"""The control plane's rules, one by one, on a clock that the test moves."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.launcher.control import ENDPOINT, SOURCE, Control, HandClock

from reactor_runtime.errors import AgentNameTakenError, JobConflictError, UnknownJobError
from reactor_runtime.launcher.agent_messages import (
    Beat,
    Delivered,
    Ended,
    NodeOffer,
    Outcome,
    Published,
    Started,
    Submission,
    TaskOrder,
)
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_plane import ControlPlane
from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.file_shelf import FileShelf
from reactor_runtime.launcher.job_state import JobState
from reactor_runtime.launcher.job_store import JobStore
from reactor_runtime.launcher.job_watch import result_lines

SUCCEEDED, FAILED, CANCELLED = Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Control]:
    with closing(Control(tmp_path / "state.sqlite")) as made:
        yield made


@pytest.fixture
def control(empty: Control) -> Control:
    empty.agent("a")
    empty.agent("b")
    return empty


def test_a_job_succeeds_when_every_node_has(control: Control) -> None:
    job = control.submit()
    assert job.state is JobState.STARTING
    (one, a), (two, b) = control.run(job)
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.end(one, a, SUCCEEDED)
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.say(two, b, Ended(outcome=SUCCEEDED))
    assert control.plane.job(job.job_id).state is JobState.RUNNING  # its log is still to come
    control.say(two, b, Delivered())
    record = control.plane.job(job.job_id)
    assert (record.state, record.is_settled) == (JobState.SUCCEEDED, True)
    assert control.order("a") is None


def test_no_job_gets_the_outputs_of_another_state(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "shelf", tmp_path / "outputs")
    shelf.output("j-1", 0, "stale").parent.mkdir(parents=True)
    with closing(JobStore(":memory:")) as store:
        plane = ControlPlane(store, HandClock(), has_outputs=shelf.has_outputs)
        job = DistributedJob(name="j", num_workers=1, entrypoint="t.py")
        ids = [plane.submit(Submission(job=job, source=SOURCE)).job_id for _ in range(2)]
    assert ids == ["j-2", "j-3"]


def test_nodes_of_rank_above_0_wait_for_the_endpoint(control: Control) -> None:
    job = control.submit()
    first = control.order("a")
    assert first is not None
    assert (first.node_rank, first.endpoint, control.order("b")) == (0, None, None)
    control.say(first, "a", Published(endpoint=ENDPOINT))
    second = control.order("b")
    assert second is not None
    assert (second.node_rank, second.endpoint) == (1, ENDPOINT)
    assert second.peers == ("10.0.0.1", "10.0.0.2")
    assert control.plane.job(job.job_id).state is JobState.STARTING


def test_only_node_0_of_the_current_attempt_publishes_and_only_one_value(control: Control) -> None:
    job = control.submit()
    first = control.order("a")
    assert first is not None
    report = control.say(first, "a", Published(endpoint=ENDPOINT))
    control.plane.report(report)  # again, as after a lost answer
    control.say(first, "a", Published(endpoint=ENDPOINT))
    with pytest.raises(JobConflictError, match=r"its endpoint is 10\.0\.0\.1:4000"):
        control.say(first, "a", Published(endpoint="10.0.0.1:9"))
    with pytest.raises(JobConflictError, match=r"its endpoint is 10\.0\.0\.1:4000"):
        control.say(first, "a", Published(endpoint="10.0.0.1:9"), number=1)
    second = control.order("b")
    assert second is not None
    with pytest.raises(JobConflictError, match="only the node of rank 0"):
        control.say(second, "b", Published(endpoint=ENDPOINT))
    with pytest.raises(JobConflictError, match="another agent's"):
        control.say(first, "b", Published(endpoint=ENDPOINT))
    stale = first.model_copy(update={"attempt_id": "j-1.0.old"})
    with pytest.raises(JobConflictError, match="no node 0 in an attempt"):
        control.say(stale, "a", Published(endpoint=ENDPOINT))
    attempt = control.plane.job(job.job_id).attempt
    assert attempt is not None
    assert attempt.endpoint == ENDPOINT


def test_the_first_failing_node_ends_the_job_and_the_cause_comes_first(control: Control) -> None:
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    closed = RankFailure(
        node_rank=0, rank=0, kind="RuntimeError", message="Connection closed by peer"
    )
    cause = RankFailure(node_rank=1, rank=1, exit_code=7)
    control.say(one, a, Ended(outcome=FAILED, failures=(closed,)))
    record = control.plane.job(job.job_id)
    assert (record.state, record.verdict) == (JobState.STOPPING, FAILED)
    order = control.order(b)
    assert order is not None
    assert order.stop
    answer = control.plane.beat(Beat(agent_id=b, incarnation="1"))
    assert answer is not None
    assert answer.stop == (two.attempt_id,)
    control.end(two, b, FAILED, cause)
    control.say(one, a, Delivered())
    record = control.plane.job(job.job_id)
    assert (record.state, record.causes) == (JobState.FAILED, (cause, closed))
    assert record.reason == "node 1, rank 1 ended with exit code 7"


def test_a_node_that_has_not_taken_its_task_is_told_to_stop_too(control: Control) -> None:
    job = control.submit()
    first = control.order("a")
    assert first is not None
    failure = RankFailure(node_rank=0, message="cannot listen")
    control.end(first, "a", FAILED, failure)
    second = control.order("b")
    assert second is not None
    assert second.stop
    control.end(second, "b", CANCELLED)
    assert control.plane.job(job.job_id).reason == "node 0: cannot listen"


def test_nothing_is_retried_without_a_checkpoint(control: Control) -> None:
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    control.end(one, a, FAILED)
    control.end(two, b, CANCELLED)
    control.pass_time(30, "a", "b")
    assert len(control.plane.job(job.job_id).attempts) == 1
    assert control.order("a") is None


def test_with_a_checkpoint_the_whole_job_starts_again_as_a_new_attempt(control: Control) -> None:
    block = {"path": "/c", "resume": True, "max_attempts": 2}
    job = control.submit(checkpoint=block)
    (one, a), (two, b) = control.run(job)
    control.end(one, a, FAILED)
    control.end(two, b, CANCELLED)
    again = control.order("a")
    assert again is not None
    assert (again.attempt_id != one.attempt_id, again.endpoint) == (True, None)
    with pytest.raises(JobConflictError, match="takes no endpoint"):
        control.say(one, a, Published(endpoint="10.0.0.1:9"))
    (one, a), (two, b) = control.run(control.plane.job(job.job_id))
    control.end(one, a, FAILED)
    control.end(two, b, CANCELLED)
    record = control.plane.job(job.job_id)
    assert (record.state, len(record.attempts)) == (JobState.FAILED, 2)


def test_cancel(control: Control) -> None:
    waiting = control.submit(num_workers=3)
    assert control.plane.cancel(waiting.job_id).state is JobState.CANCELLED
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    assert control.plane.cancel(job.job_id).state is JobState.STOPPING
    control.end(one, a, FAILED, RankFailure(node_rank=0, rank=0, exit_code=1))
    control.end(two, b, CANCELLED)
    assert control.plane.job(job.job_id).state is JobState.CANCELLED
    assert control.plane.cancel(job.job_id).state is JobState.CANCELLED
    with pytest.raises(UnknownJobError):
        control.plane.cancel("j-99")


def test_a_job_cancelled_while_it_fails_does_not_start_again(control: Control) -> None:
    job = control.submit(checkpoint={"path": "/c", "resume": True, "max_attempts": 3})
    (one, a), (two, b) = control.run(job)
    control.end(one, a, FAILED, RankFailure(node_rank=0, rank=0, exit_code=1))
    assert control.plane.job(job.job_id).state is JobState.STOPPING
    control.plane.cancel(job.job_id)
    control.end(two, b, CANCELLED)
    record = control.plane.job(job.job_id)
    assert (record.state, len(record.attempts)) == (JobState.CANCELLED, 1)
    assert control.order("a") is None


def test_a_silent_agent_is_lost_within_two_limits(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    control.run(job)
    control.pass_time(4, "a")
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.pass_time(2, "a")
    record = control.plane.job(job.job_id)
    assert record.state is JobState.STOPPING
    assert record.reason == "node 1: lost: no heartbeat for 5 s (agent b at 10.0.0.2)"


def test_after_a_start_or_a_pause_nobody_is_judged_for_two_limits(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    control.run(job)
    control.clock.time += 3600  # the control plane was stopped, as by SIGSTOP
    control.plane.tick()
    control.pass_time(9, "a")
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.restart()
    control.pass_time(9, "a")
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.pass_time(3, "a")
    assert control.plane.job(job.job_id).state is JobState.STOPPING


def test_when_all_are_silent_the_control_plane_is_cut_off_and_judges_nobody(
    control: Control,
) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    control.run(job)
    control.pass_time(50)
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.pass_time(5, "a", "b")
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.pass_time(62)
    assert control.plane.job(job.job_id).state is JobState.FAILED


def test_who_has_hung_up_is_lost_even_if_all_are_silent(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    control.run(job)
    control.plane.hang_up(control.offers["b"].start)
    control.pass_time(6)
    record = control.plane.job(job.job_id)
    assert record.reason == "node 1: lost: no heartbeat for 5 s (agent b at 10.0.0.2)"


@pytest.mark.parametrize("has_left", [True, False])
def test_an_agent_that_left_by_itself_is_not_called_lost(
    control: Control, has_left: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    control.pass_time(20, "a", "b")
    if has_left:
        control.plane.beat(Beat(agent_id="b", incarnation="1", is_last=True))
    control.pass_time(20, "a")
    assert control.plane.agents() == ["a"]
    said = [record for record in caplog.records if "agent='b'" in record.getMessage()]
    event, level = ("agent_left", "INFO") if has_left else ("agent_lost", "ERROR")
    assert [(event in record.getMessage(), record.levelname) for record in said] == [(True, level)]


def test_what_an_agent_runs_as_it_leaves_is_lost_at_once(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    control.run(job)
    control.plane.beat(Beat(agent_id="b", incarnation="an earlier one's", is_last=True))
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.plane.beat(Beat(agent_id="b", incarnation="1", is_last=True))
    record = control.plane.job(job.job_id)
    assert record.state is JobState.STOPPING
    assert record.reason == "node 1: its agent has left (agent b at 10.0.0.2)"
    control.agent("b", incarnation="2")  # its name is free


def test_a_moved_wall_clock_loses_nobody(control: Control) -> None:
    job = control.submit()
    control.run(job)
    control.clock.wall_time += 3600
    control.pass_time(20, "a", "b")
    control.clock.wall_time -= 7200
    control.pass_time(20, "a", "b")
    assert control.plane.job(job.job_id).state is JobState.RUNNING


def test_a_lost_agents_procs_are_busy_until_they_must_be_gone(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit(procs_per_worker=2)
    (one, a), _ = control.run(job)
    control.pass_time(6, "a")
    control.end(one, a, CANCELLED)
    assert control.plane.job(job.job_id).state is JobState.FAILED
    control.beat("b")  # it is back; what it ran may still run
    after = control.submit(procs_per_worker=2)
    assert after.state is JobState.QUEUED
    control.pass_time(5, "a", "b")
    assert control.plane.job(after.job_id).state is JobState.QUEUED


def test_a_lost_agent_that_says_its_procs_are_gone_is_free(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit(procs_per_worker=2)
    (one, a), (two, b) = control.run(job)
    control.pass_time(6, "a")
    control.end(one, a, CANCELLED)
    control.beat("b")
    control.end(two, b, CANCELLED)
    assert control.submit(procs_per_worker=2).state is JobState.STARTING


def test_an_agent_that_never_comes_back_is_forgotten_and_its_procs_are_free(
    control: Control,
) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    (one, a), _ = control.run(job)
    control.pass_time(6, "a")
    control.end(one, a, CANCELLED)
    assert not control.plane.job(job.job_id).is_settled
    control.pass_time(80, "a")
    assert control.plane.job(job.job_id).is_settled
    assert control.plane.beat(Beat(agent_id="b", incarnation="1")) is None


def test_an_agent_that_was_started_again_has_lost_its_tasks(control: Control) -> None:
    job = control.submit()
    control.run(job)
    control.plane.hang_up(control.offers["b"].start)  # as its kernel does for it
    control.agent("b", incarnation="2", address="10.0.0.2")
    record = control.plane.job(job.job_id)
    assert "its agent was started again" in record.reason
    attempt = record.attempt
    assert attempt is not None
    assert [task.is_free for task in attempt.tasks] == [False, True]
    assert control.order("b") is None
    assert control.plane.beat(Beat(agent_id="b", incarnation="1")) is None


def test_a_second_agent_of_a_name_is_refused_while_the_first_is_alive(control: Control) -> None:
    job = control.submit()
    control.run(job)
    first = control.offers["b"]
    with pytest.raises(AgentNameTakenError, match=r"named b is alive at 10\.0\.0\.2; start"):
        control.agent("b", incarnation="2", address="10.0.0.9")
    control.offers["b"] = first
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    assert control.order("b") is not None
    control.pass_time(20, "a")  # b is lost
    control.agent("b", incarnation="2", address="10.0.0.9")
    assert all(order.stop for order in control.plane.orders(first.start).tasks)
    assert control.plane.beat(Beat(agent_id="b", incarnation=first.incarnation)) is None


def taken_over(control: Control) -> tuple[TaskOrder, NodeOffer]:
    """Have b fall silent with a task of two procs, and another host's agent take its name."""
    control.pass_time(20, "a", "b")
    job = control.submit(procs_per_worker=2)
    (one, a), (two, _) = control.run(job)
    control.pass_time(6, "a")
    control.end(one, a, CANCELLED)
    old = control.offers["b"]
    control.agent("b", incarnation="2", host_id="h", address="10.0.0.9", home="another")
    return two, old


def test_what_an_agent_runs_is_busy_though_another_hosts_has_taken_its_name(
    control: Control,
) -> None:
    taken_over(control)
    after = control.submit(procs_per_worker=2)
    control.pass_time(40, "a", "b")
    assert control.plane.job(after.job_id).state is JobState.QUEUED
    control.pass_time(30, "a", "b")  # its own time-out and grace, since it was last heard
    assert control.plane.job(after.job_id).state is JobState.STARTING
    assert control.plane.agents() == ["a", "b"]


def test_an_agent_without_its_name_can_still_say_that_its_procs_are_gone(control: Control) -> None:
    two, old = taken_over(control)
    new = control.offers["b"]
    assert control.plane.beat(Beat(agent_id="b", incarnation=old.incarnation)) is None
    control.offers["b"] = old
    control.end(two, "b", CANCELLED)
    control.offers["b"] = new
    assert control.submit(procs_per_worker=2).state is JobState.STARTING


def test_a_restart_forgets_nobody_who_lost_a_name(control: Control) -> None:
    taken_over(control)
    after = control.submit(procs_per_worker=2)
    control.restart()
    control.pass_time(60, "a", "b")
    assert control.plane.job(after.job_id).state is JobState.QUEUED
    control.pass_time(12, "a", "b")
    assert control.plane.job(after.job_id).state is JobState.STARTING


def test_an_old_agents_closed_connection_says_nothing_of_its_names_holder(control: Control) -> None:
    _, old = taken_over(control)
    control.plane.hang_up(old.start)
    with pytest.raises(AgentNameTakenError):
        control.agent("b", incarnation="3", address="10.0.0.9")


def test_a_node_that_never_meets_the_others_is_named(control: Control) -> None:
    job = control.submit(rendezvous={"join_timeout_s": 10})
    first = control.order("a")
    assert first is not None
    control.say(first, "a", Published(endpoint=ENDPOINT))
    control.say(first, "a", Started())
    control.pass_time(25, "a", "b")
    record = control.plane.job(job.job_id)
    assert record.state is JobState.STOPPING
    assert record.reason == "node 1: did not join within 10 s (agent b)"


def test_state_survives_a_restart_and_replayed_reports_change_nothing(control: Control) -> None:
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    ended = control.say(one, a, Ended(outcome=SUCCEEDED))
    before = control.plane.job(job.job_id)
    control.restart()
    assert control.plane.job(job.job_id) == before
    control.plane.report(ended)
    assert control.plane.job(job.job_id) == before
    control.beat("a", "b")
    assert control.order("b") == two.model_copy()
    control.say(one, a, Delivered())
    control.end(two, b, SUCCEEDED)
    assert control.plane.job(job.job_id).state is JobState.SUCCEEDED
    assert control.submit().job_id == "j-2"


def test_all_or_none_and_in_order(control: Control) -> None:
    one = control.submit(procs_per_worker=2)
    two = control.submit(procs_per_worker=1)
    never = control.submit(num_workers=3)
    three = control.submit(num_workers=1)
    assert [r.state for r in control.plane.jobs()] == ["starting", *["queued"] * 3]
    assert "waits for 2 nodes with 1 free procs each; 0 have them" in two.reason
    assert three.reason == ""  # its turn has not come
    for order, agent in control.run(one):
        control.end(order, agent, SUCCEEDED)
    states = {r.job_id: r.state for r in control.plane.jobs()}
    assert states[two.job_id] is JobState.STARTING
    assert states[never.job_id] is JobState.QUEUED  # waits for a third node, and blocks nobody
    assert states[three.job_id] is JobState.STARTING
    assert "needs 3 nodes with 1 procs each; 2 registered" in control.plane.job(never.job_id).reason


def test_an_agent_may_hold_tasks_of_several_jobs(control: Control) -> None:
    jobs = [control.submit() for _ in range(3)]
    assert [control.plane.job(j.job_id).state for j in jobs] == ["starting", "starting", "queued"]
    assert len(control.orders("a")) == 2


def test_labels_choose_the_nodes(control: Control) -> None:
    control.agent("c", labels={"gpu": "h200"})
    job = control.submit(num_workers=1, labels={"gpu": "h200"})
    attempt = job.attempt
    assert attempt is not None
    assert attempt.tasks[0].agent_id == "c"
    missing = control.submit(num_workers=1, labels={"gpu": "none"})
    assert "a has no label gpu=none" in missing.reason


def test_nccl_without_cuda_is_refused_before_anything_starts_and_names_the_node(
    control: Control,
) -> None:
    job = control.submit(comm_backend="nccl")
    assert (job.state, job.attempts) == (JobState.FAILED, ())
    assert "node a has no CUDA device; node b has no CUDA device" in job.reason
    control.agent("c", devices=["gpu-1"])
    job = control.submit(comm_backend="nccl", num_workers=1, procs_per_worker=2, labels={})
    assert "node c has 1 CUDA devices for 2 processes" in job.reason
    job = control.submit(comm_backend="nccl", num_workers=1)
    assert job.state is JobState.STARTING
    control.agent("d", devices=["gpu-1"])  # another agent of the same machine
    job = control.submit(comm_backend="nccl", labels={})
    assert job.state is JobState.FAILED
    assert "node d has the devices of another, and two processes cannot share one" in job.reason
    control.agent("e", devices=["gpu-2"])
    job = control.submit(comm_backend="nccl")
    assert job.attempt is not None
    assert [task.agent_id for task in job.attempt.tasks] == ["c", "e"]


def test_under_gloo_agents_may_have_the_same_devices(empty: Control) -> None:
    empty.agent("a", devices=["gpu-1"])
    empty.agent("b", devices=["gpu-1"])
    assert empty.submit().state is JobState.STARTING


def test_loopback_will_do_on_one_host_only(empty: Control) -> None:
    control = empty
    control.agent("a", host_id="h1", address="127.0.0.1")
    control.agent("b", host_id="h2", address="127.0.0.1")
    job = control.submit()
    assert job.state is JobState.QUEUED
    assert "a, b advertise a loopback address, which other hosts cannot reach" in job.reason
    control.agent("c", host_id="h1", address="127.0.0.1")
    assert control.plane.job(job.job_id).state is JobState.STARTING


def test_one_address_family_for_a_group(empty: Control) -> None:
    control = empty
    control.agent("a", address="10.0.0.1")
    control.agent("b", address="fd00::2")
    assert "one group needs one family" in control.submit().reason
    control.agent("c", address="fd00::3")
    attempt = control.plane.jobs()[0].attempt
    assert attempt is not None
    assert [t.agent_id for t in attempt.tasks] == ["b", "c"]


def test_what_a_lost_agent_may_not_have_delivered_is_noted(control: Control) -> None:
    control.pass_time(20, "a", "b")
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    control.end(one, a, SUCCEEDED)
    control.say(two, b, Ended(outcome=SUCCEEDED))
    control.pass_time(6, "a")
    record = control.plane.job(job.job_id)
    assert record.state is JobState.SUCCEEDED  # every rank has
    assert result_lines(record)[1:] == [
        "  node 1: its agent was lost: its outputs and the end of its log may be missing"
    ]


def test_an_early_success_on_one_node_is_no_end_of_the_job(control: Control) -> None:
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    control.end(one, a, SUCCEEDED)
    control.pass_time(30, "a", "b")
    assert control.plane.job(job.job_id).state is JobState.RUNNING
    control.end(two, b, FAILED, RankFailure(node_rank=1, rank=1, exit_code=3))
    assert control.plane.job(job.job_id).state is JobState.FAILED


def test_a_report_of_something_past_is_taken_without_effect(control: Control) -> None:
    job = control.submit()
    (one, a), (two, b) = control.run(job)
    control.end(one, a, SUCCEEDED)
    control.end(two, b, SUCCEEDED)
    record = control.plane.job(job.job_id)
    control.say(one, a, Started())
    after = control.plane.job(job.job_id)
    assert (after.state, after.causes) == (record.state, record.causes)
