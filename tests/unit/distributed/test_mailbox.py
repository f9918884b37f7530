"""Mailbox: many senders, one order, waits that end."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from reactor_runtime.distributed.channel import Channel
from reactor_runtime.distributed.mailbox import Mailbox
from reactor_runtime.distributed.parcel import Parcel


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    mailbox = Mailbox()
    yield mailbox
    mailbox.close()


def put(mailbox: Mailbox, text: bytes) -> None:
    sender = Channel(mailbox.far.dup())
    sender.send(Parcel(text))
    sender.close()


def test_parcels_of_all_senders_come_in_the_order_they_were_sent(mailbox: Mailbox) -> None:
    for text in (b"one", b"two", b"three"):
        put(mailbox, text)
    found = [mailbox.wait(None) for _ in range(3)]
    assert found == [Parcel(b"one"), Parcel(b"two"), Parcel(b"three")]


@pytest.mark.parametrize("within_s", [-1.0, 0.0, 0.05, 1.2])
def test_a_wait_ends_in_time(mailbox: Mailbox, within_s: float) -> None:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        assert mailbox.wait(until) is None
    assert mailbox.wait(until) is None
    assert time.monotonic() < until + 10.0
    put(mailbox, b"later")  # and what comes after a short wait is not missed by a long one
    assert mailbox.wait(time.monotonic() + 60.0) == Parcel(b"later")


def test_a_wait_without_an_end_looks_up_when_poked(mailbox: Mailbox) -> None:
    waiting = threading.Event()
    found: list[Parcel | None] = []

    def wait() -> None:
        waiting.set()
        found.append(mailbox.wait(time.monotonic() + 60.0))

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    mailbox.poke()
    thread.join(10.0)
    assert found == [None]


def test_pokes_hide_no_parcels_and_are_none(mailbox: Mailbox) -> None:
    mailbox.poke()
    put(mailbox, b"one")
    mailbox.poke()
    put(mailbox, b"two")
    assert mailbox.take_rest() == [Parcel(b"one"), Parcel(b"two")]
    assert mailbox.take_rest() == []


def test_a_full_mailbox_holds_up_nobody_who_pokes(mailbox: Mailbox) -> None:
    sender = Channel(mailbox.far.dup())
    sent = 0
    with suppress(TimeoutError):
        while sent < 1000:
            sender.send(Parcel(bytes(30_000)), 0.05)
            sent += 1
    assert sent < 1000
    mailbox.poke()
    assert len(mailbox.take_rest()) == sent
    sender.close()


def test_a_poke_after_the_end_is_for_nobody(mailbox: Mailbox) -> None:
    mailbox.close()
    mailbox.poke()
