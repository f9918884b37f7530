"""Inbox: what ranks say is told in the order they said it, and a death comes behind it."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from reactor_runtime.distributed.channel import Channel, make_socket_pair
from reactor_runtime.distributed.inbox import Inbox
from reactor_runtime.distributed.messages import Reply
from reactor_runtime.distributed.parcel import INLINE_LIMIT, Parcel
from reactor_runtime.distributed.rank_line import RankLine
from reactor_runtime.distributed.signs import Died, Garbled, Heard, Sign, Woken


class Stage:
    """A group's inbox, and its ranks' ends of the lines; nobody hears notices unless asked to."""

    def __init__(self, ranks: int) -> None:
        pairs = [tuple(map(Channel, make_socket_pair())) for _ in range(ranks)]
        self.told: list[tuple[int, Any]] = []
        self.processes: list[Any] = [
            SimpleNamespace(rank=rank, channel=near) for rank, (near, _) in enumerate(pairs)
        ]
        self.inbox = Inbox(self.processes, lambda rank, payload: self.tell(rank, payload))
        self.answers = Channel(socket.socket(fileno=os.dup(self.inbox.answers_file)))
        self.lines = [RankLine(rank, far, self.answers) for rank, (_, far) in enumerate(pairs)]
        self.channels = [channel for pair in pairs for channel in pair]
        for rank in range(ranks):
            self.inbox.adopt(rank)

    def tell(self, rank: int, payload: Any) -> None:
        self.told.append((rank, payload))

    def listen(self) -> list[Sign]:
        signs: list[Sign] = []
        until = time.monotonic() + 10.0
        while not signs and time.monotonic() < until:
            signs += self.inbox.listen(until)
        return signs

    def close(self) -> None:
        self.inbox.close()
        for channel in (self.answers, *self.channels):
            channel.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage(2)
    yield stage
    stage.close()


def test_answers_come_with_who_gave_them(stage: Stage) -> None:
    stage.lines[1].answer(Reply(7, "one"))
    stage.lines[0].answer(Reply(7, "nought"))
    assert stage.listen() == [Heard(1, Reply(7, "one"))]
    assert stage.listen() == [Heard(0, Reply(7, "nought"))]


@pytest.mark.parametrize("size", [10, 2 * INLINE_LIMIT])
def test_notices_are_told_before_the_answer_that_came_after_them(stage: Stage, size: int) -> None:
    texts = [str(number) * size for number in range(3)]
    for text in texts:
        stage.lines[0].say(text)
    stage.lines[1].say("beside")
    stage.lines[0].answer(Reply(7, None))
    assert stage.told == []
    assert stage.listen() == [Heard(0, Reply(7, None))]
    assert stage.told == [(0, text) for text in texts]
    assert stage.inbox.hear(stage.processes[1])
    assert stage.told[-1] == (1, "beside")


def test_no_answer_overtakes_a_notice_that_another_thread_is_telling(stage: Stage) -> None:
    is_telling, may_go_on = threading.Event(), threading.Event()

    def tell(rank: int, payload: Any) -> None:
        is_telling.set()
        assert may_go_on.wait(10)
        stage.told.append((rank, payload))

    stage.tell = tell  # type: ignore[method-assign]
    stage.lines[0].say("first")
    stage.lines[0].answer(Reply(7, None))
    order: list[str] = []
    hearing = threading.Thread(target=lambda: stage.inbox.hear(stage.processes[0]))
    listening = threading.Thread(target=lambda: order.append(f"{stage.listen()} {stage.told}"))
    hearing.start()
    assert is_telling.wait(10)
    listening.start()
    listening.join(0.2)
    assert order == []
    may_go_on.set()
    hearing.join(10)
    listening.join(10)
    assert order == [f"{[Heard(0, Reply(7, None))]} {[(0, 'first')]}"]


def test_a_notice_is_told_once(stage: Stage) -> None:
    stage.lines[0].say("once")
    stage.inbox.hear(stage.processes[0])
    stage.lines[0].answer(Reply(7, None))
    stage.listen()
    assert stage.told == [(0, "once")]


def test_news_comes_behind_what_was_said_before(stage: Stage) -> None:
    stage.lines[0].answer(Reply(7, "a"))
    stage.lines[1].answer(Reply(7, "b"))
    died = Died(1, -9, "")
    stage.inbox.add(died)
    assert stage.inbox.death == died
    assert stage.listen() == [Heard(0, Reply(7, "a")), Heard(1, Reply(7, "b")), died]
    assert not stage.inbox.has_news
    stage.lines[0].answer(Reply(8, "c"))  # a poke that is left over hides nothing
    assert stage.listen() == [Heard(0, Reply(8, "c"))]


def test_a_wish_to_stop_ends_a_wait(stage: Stage) -> None:
    stage.inbox.add(Woken())
    assert stage.listen() == [Woken()]
    assert stage.inbox.death is None


def test_what_cannot_be_read_names_its_rank(stage: Stage) -> None:
    stage.processes[1].channel.close()
    near, far = map(Channel, make_socket_pair())
    stage.processes[1] = SimpleNamespace(rank=1, channel=near)
    far.send(Parcel(b"\0" * 8 + b"no pickle"))
    stage.inbox.hear(stage.processes[1])
    (sign,) = stage.listen()
    assert isinstance(sign, Garbled)
    assert sign.rank == 1
    near.close()
    far.close()


def test_a_listener_that_raises_is_not_lost(stage: Stage) -> None:
    def refuse(rank: int, payload: Any) -> None:
        raise ValueError(payload)

    inbox = Inbox(stage.processes, refuse)
    inbox.adopt(0)
    stage.lines[0].say("this")
    inbox.hear(stage.processes[0])
    (sign,) = inbox.listen(time.monotonic() + 10.0)
    assert isinstance(sign, Garbled)
    assert str(sign.error) == "this"
    inbox.close()


def test_the_end_of_a_channel_is_seen_after_its_last_notice(stage: Stage) -> None:
    stage.lines[0].say("last words")
    stage.channels[1].close()
    assert not stage.inbox.hear(stage.processes[0])
    assert stage.told == [(0, "last words")]
