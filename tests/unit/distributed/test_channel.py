"""Channel: parcels over a real socket pair."""

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from reactor_runtime.distributed.channel import Channel, make_socket_pair
from reactor_runtime.distributed.messages import Notice
from reactor_runtime.distributed.parcel import INLINE_LIMIT, Parcel, ParcelReader, ParcelWriter

Ends = tuple[Channel, Channel]


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    near, far = map(Channel, make_socket_pair())
    yield near, far
    near.close()
    far.close()


def packed(payload: object, *descriptors: int) -> Parcel:
    return ParcelWriter().pack(Notice(payload), descriptors)


def payload_of(parcel: Parcel | None) -> object:
    assert parcel is not None
    return ParcelReader(shares=True).unpack(parcel)[0].payload


def test_parcels_arrive_in_order_and_apart(ends: Ends) -> None:
    near, far = ends
    for number in range(5):
        near.send(packed(number))
    parcels, is_open = far.receive_ready()
    assert [payload_of(parcel) for parcel in parcels] == [0, 1, 2, 3, 4]
    assert is_open
    assert far.receive_ready() == ([], True)


def test_a_parcel_of_any_size_arrives_in_one_piece(ends: Ends) -> None:
    near, far = ends
    for size in (1, 30_000, INLINE_LIMIT - 100):
        near.send(packed("x" * size))
    parcels, _ = far.receive_ready()
    assert [payload_of(parcel) for parcel in parcels] == [
        "x" * size for size in (1, 30_000, INLINE_LIMIT - 100)
    ]


def test_files_come_with_their_own_parcel(ends: Ends) -> None:
    near, far = ends
    files = [os.memfd_create(f"file{number}") for number in range(3)]
    for number, file in enumerate(files):
        os.write(file, bytes([number]))
    near.send(packed("none"))
    near.send(packed("two", files[0], files[1]))
    near.send(packed("one", files[2]))
    found: list[Parcel] = []
    while len(found) < 3:
        found += far.receive_ready()[0]
    assert [len(parcel.descriptors) for parcel in found] == [0, 2, 1]
    read = [os.pread(file, 1, 0) for parcel in found for file in parcel.descriptors]
    assert read == [b"\0", b"\1", b"\2"]
    for file in (*files, *(file for parcel in found for file in parcel.descriptors)):
        os.close(file)


def test_the_end_is_seen_after_what_was_sent_before_it(ends: Ends) -> None:
    near, far = ends
    near.send(packed("last words"))
    near.close()
    assert payload_of(far.receive()) == "last words"
    assert far.receive() is None
    assert far.receive_ready() == ([], False)
    with pytest.raises(OSError, match=r"[Pp]ipe"):
        far.send(packed("too late"))


def test_a_receiver_that_does_not_read_holds_nobody_for_ever(ends: Ends) -> None:
    near, far = ends
    parcel = packed("x" * 30_000)

    def send_for_ever() -> None:
        while True:
            near.send(parcel, within_s=0.05)

    with pytest.raises(TimeoutError):
        send_for_ever()
    read, is_open = far.receive_ready()
    assert read
    assert is_open


def test_many_threads_may_send(ends: Ends) -> None:
    near, far = ends
    text = "y" * 20_000

    def send(number: int) -> None:
        for _ in range(50):
            near.send(packed((number, text)))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    counts = [0] * 4
    for _ in range(200):
        payload: Any = payload_of(far.receive())
        assert payload[1] == text
        counts[payload[0]] += 1
    for thread in threads:
        thread.join()
    assert counts == [50] * 4
