"""JSON for people, in bounded time and size, of whatever an author gives."""

import dataclasses
import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.model.json_value import NotJsonError, brief_json, to_json

ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Mood(Enum):
    CALM = "calm"


@dataclasses.dataclass
class Box:
    left: int
    mood: Mood


class Endless(list[int]):
    """As long as anybody asks; counts how often one did."""

    asked = 0

    def __iter__(self) -> Iterator[int]:
        while True:
            self.asked += 1
            yield 7


class OnAccelerator:
    """Reading it would wait for the work before it."""

    dtype, shape, device = "float32", (3,), "cuda:0"

    def tolist(self) -> list[float]:
        raise AssertionError("it was read")


class Leaves:
    """Says that it wants to leave when it is read."""

    dtype, shape, device = "float32", (3,), "cpu"

    def __len__(self) -> int:
        raise SystemExit(3)

    tolist = __len__


@given(ANY_VALUE)
def test_what_fits_is_its_json_and_what_does_not_is_cut(value: Any) -> None:
    text = brief_json(value, 64)
    assert len(text) <= 64
    try:
        whole = json.dumps(to_json(value), ensure_ascii=False)
    except NotJsonError:
        return
    assert text == whole or (len(whole) > 64 and whole.startswith(text[:-1]) and text[-1] == "…")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Box(1, Mood.CALM), '{"left": 1, "mood": "calm"}'),
        (np.arange(4).reshape(2, 2), "[[0, 1], [2, 3]]"),
        (np.float32(0.5), "0.5"),
        ((1, (), {}), "[1, [], {}]"),
        ({1: "ü"}, '{"1": "ü"}'),
        ({"a": b"x", "b": 2}, '{"a": <bytes>, "b": 2}'),
        (float("nan"), "<float>"),
        ("half \ud800", '"half ?"'),
        (OnAccelerator(), "<OnAccelerator>"),
        ([1, Leaves()], "[1,…"),
    ],
)
def test_what_a_value_looks_like(value: Any, text: str) -> None:
    assert brief_json(value, 1024) == text


def test_no_more_is_looked_at_than_is_told() -> None:
    endless = Endless()
    text = brief_json({"steps": endless}, 1024)
    assert (len(text), text[-1]) == (1024, "…")
    assert endless.asked < 1024


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert brief_json(loop, 1024).startswith("[[[")


def test_a_value_that_changes_meanwhile_is_cut() -> None:
    class Changing(dict[str, int]):
        def items(self) -> Any:
            yield "number", 1
            raise RuntimeError("dictionary changed size during iteration")

    assert brief_json(Changing(), 1024) == '{"number": 1…'
