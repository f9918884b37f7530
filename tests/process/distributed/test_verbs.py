"""Verbs that a host adds: payloads, notices, suspension, several pictures."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.process.distributed.own_verbs import Ask, Driver, Emit, Refuse, Return, Say
from tests.waiting import wait_for

from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import RankDesync, WorkerCrashed, WorkerError, WorkerGroupStateError

MakeGroup = Callable[..., WorkerGroup]


@pytest.fixture
def group(make_group: MakeGroup) -> WorkerGroup:
    group = make_group(Driver)
    group.start(verbs=())
    return group


def test_a_suspended_verb_goes_on_with_what_it_is_given(group: WorkerGroup) -> None:
    result = group.call(Ask(times=2))
    assert (result.is_suspended, result.payloads) == (True, (("want", 0),) * 2)
    with pytest.raises(WorkerGroupStateError, match="waiting to be resumed"):
        group.call(Ask(times=1))
    result = group.resume("first")
    assert (result.is_suspended, result.payloads) == (True, (("want", 1),) * 2)
    with pytest.raises(Exception, match=r"lambda|pickle"):
        group.resume(lambda: 0)
    result = group.resume("second")
    assert (result.is_suspended, result.payloads) == (False, (["first", "second"],) * 2)
    assert group.call(Ask(times=0)).payloads == ([], [])
    with pytest.raises(WorkerGroupStateError, match="resume is not possible"):
        group.resume("third")


def test_ranks_that_do_not_all_wait_are_a_desync(group: WorkerGroup) -> None:
    with pytest.raises(RankDesync, match="some ranks wait and others are done") as caught:
        group.call(Ask(times=1, only_rank=1))
    assert caught.value.ranks == (1,)
    assert not group.healthy


def test_a_death_while_suspended_is_seen(group: WorkerGroup) -> None:
    import os
    import signal

    told: list[Exception] = []
    group.listeners.on_failure = told.append
    group.call(Ask(times=1))
    os.kill(group.pids[1], signal.SIGKILL)
    wait_for(lambda: bool(told))
    with pytest.raises(WorkerCrashed):
        group.resume("too late")


def test_a_suspended_group_can_be_abandoned(group: WorkerGroup) -> None:
    group.call(Ask(times=1))
    error = RankDesync("ask", "they differ", (1,))
    group.abandon(error)
    assert (group.failure, group.pids) == (error, ())
    with pytest.raises(RankDesync, match="they differ"):
        group.resume("anything")


def test_a_suspended_group_can_be_shut_down(group: WorkerGroup) -> None:
    group.call(Ask(times=1))
    group.shutdown()
    assert not group.healthy


def test_notices_come_in_order_and_before_the_reply(group: WorkerGroup) -> None:
    heard: list[tuple[int, Any]] = []
    group.listeners.on_notice = lambda rank, payload: heard.append((rank, payload[1]))
    group.call(Say(count=50))
    for rank in range(2):
        assert [n for who, n in heard if who == rank] == list(range(50))
    wait_for(lambda: len(heard) == 102)
    assert {(0, "late"), (1, "late")} <= set(heard)


def test_a_caller_is_told_when_all_ranks_know_what_to_do(group: WorkerGroup) -> None:
    told: list[None] = []
    group.listeners.on_told = lambda: told.append(None)
    group.call(Ask(times=1))
    assert len(told) == 1
    group.resume("go on")
    assert len(told) == 2


def test_pictures_of_all_ranks_in_one_slot(group: WorkerGroup) -> None:
    for height in (2, 2, 6, 3):
        result = group.call(Emit(height=height))
        assert result.payloads == ((2, 2 * height),) * 2
        first, second = result.pictures("main")
        assert first.shape == second.shape == (2, 2 * height, 8, 3)
        assert first[1, :, 0, 0].tolist() == [0] * height + [1] * height
        assert second[1, :, 0, 0].tolist() == [10] * height + [11] * height
        assert (result.pictures("depth")[0] == 77).all()
        parts = result.parts["main"][0]
        assert [(rank, part.origin, part.extent) for rank, part in parts] == [
            (0, (0, 0), (2, height, 8, 3)),
            (1, (0, height), (2, height, 8, 3)),
        ]
    assert result.timing.broadcast_s > 0
    assert len(result.timing.compute_s) == 2


def test_ranks_that_mean_different_pictures_are_a_desync(group: WorkerGroup) -> None:
    with pytest.raises(RankDesync, match=r"part of \(2, 4, 8, 3\), rank 1 gave \(2, 3, 8, 3\)"):
        group.call(Emit(height=2, differ=True))


def test_a_refusal_that_settles_leaves_the_group_alive(group: WorkerGroup) -> None:
    for ranks in ((0,), (1,), (0, 1)):
        with pytest.raises(WorkerError) as caught:
            group.call(Refuse(ranks=ranks))
        assert caught.value.ranks == ranks
        assert isinstance(caught.value.__cause__, LookupError)
    group.call(Refuse(ranks=()))


def test_large_payloads_come_as_copies(group: WorkerGroup) -> None:
    kept = [group.call(Return(size=300_000)).payloads for _ in range(3)]
    assert all(set(payloads[rank]) == {rank} for payloads in kept for rank in range(2))


def test_a_payload_that_cannot_travel_is_the_ranks_error(group: WorkerGroup) -> None:
    with pytest.raises(WorkerError, match="pickle") as caught:
        group.call(Return())
    assert caught.value.phase == "return"


def test_a_verb_that_cannot_travel_changes_nothing(group: WorkerGroup) -> None:
    with pytest.raises(Exception, match=r"lambda|pickle"):
        group.call(Refuse(ranks=(lambda: 0,)))  # type: ignore[arg-type]
    assert group.healthy
    group.call(Refuse(ranks=()))
