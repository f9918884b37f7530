"""Parcels: what is small travels inside, what is large lies in shared memory, nothing is lost."""

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.distributed.messages import Call, Notice, Reply, Resume, Suspended
from reactor_runtime.distributed.parcel import (
    HEAD,
    INLINE_LIMIT,
    Parcel,
    ParcelReader,
    ParcelWriter,
)
from reactor_runtime.distributed.verbs import (
    EndSession,
    GenerateChunk,
    StartSession,
    Verb,
    make_verb,
    values_of,
)
from reactor_runtime.model.uploaded_file import UploadedFile


class Line:
    """A writer and a reader that pass descriptors as the kernel would: as copies."""

    def __init__(self, *, shares: bool, in_c_order: bool = False) -> None:
        self.writer = ParcelWriter(in_c_order=in_c_order)
        self.reader = ParcelReader(shares=shares)

    def send(self, message: object) -> Parcel:
        import os

        parcel = self.writer.pack(message)
        return Parcel(parcel.data, tuple(map(os.dup, parcel.descriptors)))

    def carry(self, message: object) -> Any:
        found, rest = self.reader.unpack(self.send(message))
        assert rest == ()
        return found

    def close(self) -> None:
        self.reader.close()
        self.writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign(Verb):
    """A verb of somebody else, with keyword-only fields."""

    phase = "foreign"
    first: int
    second: str = "default"

    def run(self, worker: Any, rank: Any) -> None:
        pass


@pytest.mark.parametrize(
    "message",
    [
        Call(3, 0, (1, {"prompt": "x"}), 7),
        Call(4, (1, StartSession), (None, 5)),
        Reply(3, None, held=(1, 2), compute_s=0.5),
        Reply(3, {"a": [1, 2]}),
        Resume(3, ("tuple", 1)),
        Suspended(3, b"bytes"),
        Notice((1, "tuple")),
        {"no": "message"},
    ],
)
def test_a_message_arrives_as_it_was(message: object) -> None:
    line = Line(shares=True)
    parcel = line.send(message)
    assert parcel.descriptors == ()
    assert line.reader.unpack(parcel)[0] == message
    assert HEAD.unpack_from(parcel.data) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "verb", [GenerateChunk(1, "x"), EndSession(), Foreign(first=1), Foreign(first=1, second="two")]
)
def test_a_verb_is_made_again_of_its_fields(verb: Verb) -> None:
    assert make_verb(type(verb), values_of(verb)) == verb


def test_a_parcel_says_who_sent_it_and_after_how_many_notices() -> None:
    writer = ParcelWriter(3)
    small, large_one = writer.pack(Reply(1, None), said=7), writer.pack(Reply(1, large(1)), said=8)
    assert [HEAD.unpack_from(parcel.data)[0] for parcel in (small, large_one)] == [3, 3]
    assert [HEAD.unpack_from(parcel.data)[3] for parcel in (small, large_one)] == [7, 8]
    writer.close()


def test_what_was_sent_and_forgotten_is_the_receivers_alone() -> None:
    line = Line(shares=False)
    found = []
    for value in range(3):
        found.append(line.carry(Notice(large(value))).payload)
        line.writer.forget()
    assert [set(array) for array in found] == [{0}, {1}, {2}]
    line.close()


def test_a_thousand_large_arrays_still_fit_a_parcel() -> None:
    line = Line(shares=True)
    parcel = line.send(Notice([large(value % 256, INLINE_LIMIT) for value in range(1000)]))
    assert len(parcel.data) < 1000
    found = line.reader.unpack(parcel)[0].payload
    assert [int(array[0]) for array in found] == [value % 256 for value in range(1000)]
    del found
    line.close()


@given(st.binary(max_size=100), st.integers(0, 3), st.booleans(), st.booleans())
def test_contents_of_any_size_arrive(seed: bytes, scale: int, shares: bool, ordered: bool) -> None:
    line = Line(shares=shares, in_c_order=ordered)
    text = seed * (200 * scale + 1)
    pixels = np.frombuffer(text + b"abcd", np.uint8)
    for _ in range(2):
        found = line.carry(Notice({"text": text, "pixels": pixels}))
        assert found.payload["text"] == text
        assert (found.payload["pixels"] == pixels).all()
    line.close()


def large(value: int, count: int = 4 * INLINE_LIMIT) -> Any:
    return np.full(count, value, np.uint8)


def test_a_large_array_is_passed_once_and_its_memory_used_again() -> None:
    line = Line(shares=True)
    first = line.send(Notice(large(1)))
    assert len(first.descriptors) == 1
    assert len(first.data) < 1000
    assert (line.reader.unpack(first)[0].payload == 1).all()
    gc.collect()
    assert line.reader.held() == ()
    line.writer.recycle(line.reader.held())
    second = line.send(Notice(large(2)))
    assert second.descriptors == ()
    assert (line.reader.unpack(second)[0].payload == 2).all()
    line.close()


def test_an_uploaded_file_is_copied_when_it_is_read_and_not_before() -> None:
    line = Line(shares=True)
    file = UploadedFile("a.bin", "x/y", bytes(4 * INLINE_LIMIT))
    parcel = line.send(Call(1, 0, (file,)))
    assert len(parcel.descriptors) == 1
    assert len(parcel.data) < 1000
    (found,) = line.reader.unpack(parcel)[0].values
    assert found.size == file.size
    assert line.reader.held() == (1,)
    assert found == file
    gc.collect()
    assert line.reader.held() == ()  # the receiver has its own bytes now
    line.close()


def test_what_a_receiver_keeps_is_not_written_over() -> None:
    line = Line(shares=True)
    kept = []
    for value in range(4):
        kept.append(line.carry(Notice(large(value))).payload)
        line.writer.recycle(line.reader.held())
    assert [set(array) for array in kept] == [{0}, {1}, {2}, {3}]
    kept[0][:] = 9
    assert set(kept[1]) == {1}
    line.close()
    assert set(kept[3]) == {3}


def test_copies_are_the_receivers_own() -> None:
    line = Line(shares=False)
    first = line.carry(Reply(1, large(1))).payload
    line.writer.recycle()
    second = line.carry(Reply(2, large(2))).payload
    assert set(first) == {1}
    first[:] = 5
    assert set(second) == {2}
    line.close()


@pytest.mark.parametrize("count", [4, 300])
def test_arrays_arrive_in_c_order_where_that_is_wanted(count: int) -> None:
    line = Line(shares=False, in_c_order=True)
    square = np.arange(count * count, dtype=np.int32).reshape(count, count)
    for array in (square.T, np.asfortranarray(square), square[::2, ::3]):
        found = line.carry(Reply(1, [array])).payload[0]
        assert found.flags.c_contiguous
        assert (found == array).all()
    line.close()


def test_objects_in_arrays_and_empty_ones_arrive_too() -> None:
    line = Line(shares=True)
    odd = np.array([{"a": 1}, None, "text"], dtype=object)
    found = line.carry(Notice([odd[::2], np.empty((0, 3)), np.float32(2)])).payload
    assert list(found[0]) == [{"a": 1}, "text"]
    assert found[1].shape == (0, 3)
    assert found[2] == 2
    line.close()


def test_what_cannot_be_pickled_says_so_and_nothing_is_sent() -> None:
    line = Line(shares=True)
    with pytest.raises(Exception, match=r"pickle|lambda"):
        line.writer.pack(Notice(lambda: 0))
    assert line.carry(Notice(1)) == Notice(1)
