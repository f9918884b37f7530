import pytest

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.events import ClientJoined, ClientLeft, CommandCalled, SessionStarted


def call(call_id: int) -> CommandCalled:
    return CommandCalled(call_id=call_id, client_id="a", name="x")


@pytest.fixture
def posts() -> list[None]:
    return []


@pytest.fixture
def queue(posts: list[None]) -> EventQueue:
    return EventQueue(lambda: posts.append(None))


def test_events_are_taken_in_order_up_to_a_mark(queue: EventQueue, posts: list[None]) -> None:
    queue.post(call(1))
    queue.post(call(2))
    mark = queue.mark
    queue.post(call(3))
    assert len(posts) == len(queue) == 3
    assert [queue.take(mark), queue.take(mark), queue.take(mark)] == [call(1), call(2), None]
    assert queue.take(queue.mark) == call(3)
    assert queue.take(queue.mark) is None


def test_a_call_is_settled_once(queue: EventQueue) -> None:
    queue.post(call(1))
    assert queue.take(queue.mark) == call(1)
    assert not queue.withdraw(1)
    assert queue.settle(1)
    assert not queue.settle(1)


def test_a_withdrawn_call_is_gone(queue: EventQueue) -> None:
    queue.post(call(1))
    queue.post(call(2))
    assert queue.withdraw(1)
    assert not queue.withdraw(1)
    assert not queue.withdraw(99)
    assert not queue.settle(1)
    assert queue.take(queue.mark) == call(2)


def test_it_knows_what_its_events_will_lead_to(queue: EventQueue) -> None:
    queue.post(SessionStarted(session_id="s", seed=1))
    assert not queue.expects_clients
    queue.post(ClientJoined(client_id="a", joined_at=0.0))
    assert queue.expects_clients
    assert not queue.will_drop
    queue.post(ClientLeft(client_id="a"))
    assert queue.will_drop
    queue.post(ClientJoined(client_id="b", joined_at=0.0))
    assert queue.expects_clients
    assert queue.will_drop
    for _ in range(3):
        queue.take(queue.mark)
    assert not queue.will_drop


def test_once_closed_it_refuses_and_returns_what_nobody_answered(queue: EventQueue) -> None:
    for number in range(3):
        queue.post(call(number))
    queue.take(queue.mark)
    queue.settle(0)
    assert queue.close("broken") == [call(1), call(2)]
    assert queue.close("stopped") == []
    assert len(queue) == 0
    with pytest.raises(HostClosedError, match="broken"):
        queue.post(call(4))
