"""JSON for people, in bounded time and size, of whatever an author gives."""

import dataclasses
import json
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.model.odd_values import Changing, Endless, Leaves, OnAccelerator, Recurses

from reactor_runtime.model.json_value import NotJsonError, brief_json, to_json, whole_json

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
    assert brief_json(Changing(), 1024) == '{"number": 1…'


# --- all of it, or not at all ---


@given(ANY_VALUE)
def test_a_whole_value_is_its_json_or_is_refused(value: Any) -> None:
    try:
        text = whole_json(value, 64)
    except NotJsonError as error:
        if "bytes" not in error.reason:
            with pytest.raises(NotJsonError):
                to_json(value)
        return
    assert len(text.encode()) <= 64
    assert json.loads(text) == to_json(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("ü" * 40, "more than 64 bytes"),
        ({"a": Endless()}, "more than 64 bytes"),
        ({"a": object()}, "is a object"),
        (float("nan"), "is nan"),
        ("half \ud800", "half a character"),
        ({"half \ud800": 1}, "half a character"),
        ({(1, 2): 3}, "tuple as a key"),
        ([OnAccelerator()], "lies on cuda:0"),
        (Leaves(), "raised SystemExit"),
        ({"a": Recurses()}, "raised RecursionError"),
        (Changing(), "raised RuntimeError"),
    ],
)
def test_what_has_no_whole_form_is_refused_with_the_reason(value: Any, reason: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        whole_json(value, 64)
    assert reason in caught.value.reason


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(NotJsonError, match="nested"):
        whole_json(loop, 1024)


def test_a_set_has_one_order() -> None:
    assert whole_json({"b", "a", "c"}, 64) == '["a", "b", "c"]'
