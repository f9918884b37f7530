import asyncio

import pytest

from reactor_runtime.errors import ConnectionIdError, ConnectionLimitError, NegotiationError
from reactor_runtime.webrtc.connection_ids import ConnectionIds, check_id
from reactor_runtime.webrtc.staged_answer import StagedAnswer


async def test_an_answer_is_handed_out_once() -> None:
    answer = StagedAnswer(5000)
    assert await answer.take(0) is None
    answer.stage("sdp")
    assert await answer.take(0) == "sdp"
    assert await answer.take(0) is None


async def test_taking_may_wait() -> None:
    answer = StagedAnswer(5000)
    taking = asyncio.create_task(answer.take(5))
    await asyncio.sleep(0)
    answer.stage("sdp")
    assert await taking == "sdp"
    assert await StagedAnswer(5000).take(0.01) is None


async def test_a_failure_is_told_whether_there_was_an_answer_or_not() -> None:
    answer = StagedAnswer(5000)
    answer.fail("no socket")
    with pytest.raises(NegotiationError, match="no socket"):
        await answer.take(1)
    answer = StagedAnswer(5000)
    answer.stage("sdp")
    answer.fail("no path")
    with pytest.raises(NegotiationError, match="no path"):
        await answer.take(0)


def test_ids_are_minted_in_turn_and_never_twice() -> None:
    ids = ConnectionIds()
    assert [ids.mint({5001}) for _ in range(3)] == [5000, 5002, 5003]
    assert ids.is_waiting(5002)
    ids.use(5002)
    assert not ids.is_waiting(5002)


def test_ids_come_round_and_run_out() -> None:
    ids = ConnectionIds()
    assert len({ids.mint(()) for _ in range(1000)}) == 1000
    for _ in range(12_000):
        assert 5000 <= ids.mint(()) <= 9999
    with pytest.raises(ConnectionLimitError):
        ConnectionIds().mint(range(5000, 10_000))


@pytest.mark.parametrize("connection_id", [-1, 0, 1000, 10_000])
def test_ids_outside_the_range_are_refused(connection_id: int) -> None:
    with pytest.raises(ConnectionIdError):
        check_id(connection_id)
