"""An uploaded file travels as a buffer, and is a value all the same."""

import copy
import dataclasses
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from reactor_runtime import UploadedFile

FILE = UploadedFile("a.png", "image/png", b"some bytes")


@dataclass(frozen=True)
class Tagged(UploadedFile):
    tag: str = ""


def carried(file: UploadedFile) -> tuple[Any, list[pickle.PickleBuffer]]:
    beside: list[pickle.PickleBuffer] = []
    body = pickle.dumps(file, 5, buffer_callback=beside.append)
    assert b"some bytes" not in body
    return pickle.loads(body, buffers=beside), beside


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("file", [FILE, Tagged("b", "x/y", b"", tag="t")])
def test_a_file_comes_back_as_it_was(file: UploadedFile, protocol: int) -> None:
    found = pickle.loads(pickle.dumps(file, protocol))
    assert found == file
    assert type(found) is type(file)
    assert vars(found) == vars(file)
    assert copy.deepcopy(file) == copy.copy(file) == file


def test_the_contents_are_copied_when_somebody_wants_them() -> None:
    contents = bytearray(b"some bytes")
    found, _ = carried(UploadedFile("a.png", "image/png", contents))  # type: ignore[arg-type]
    assert found.size == 10
    assert repr(found) == repr(FILE)
    contents[:4] = b"SOME"  # not read before
    assert found.data == b"SOME bytes"
    contents[:4] = b"more"
    assert found.data == b"SOME bytes"
    assert type(found.data) is bytes


def test_a_file_that_nobody_has_read_can_travel_on() -> None:
    found, _ = carried(FILE)
    again, beside = carried(found)
    assert len(beside) == 1
    assert again == FILE
    assert hash(again) == hash(FILE)
    assert dataclasses.replace(found, name="b").data == FILE.data


def test_a_file_that_nobody_has_read_is_frozen_and_has_no_more_than_its_fields() -> None:
    found, _ = carried(FILE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.data = b""
    with pytest.raises(AttributeError, match="no attribute 'path'"):
        found.path  # noqa: B018
    assert found.data == FILE.data
