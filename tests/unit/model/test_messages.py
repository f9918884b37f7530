"""ModelMessage: construction, wire names, and bodies that are JSON or an error naming the field."""

import json
import math
import pickle
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime import MessageField, ModelMessage, UploadedFile
from reactor_runtime.errors import MessageBodyError
from reactor_runtime.model.json_value import NotJsonError, to_json
from reactor_runtime.model.messages import body_of, snake_case, wire_name


class Mood(Enum):
    CALM = "calm"


@dataclass
class Point:
    x: float
    y: float = 0.0


class Scene(ModelMessage):
    """What is shown."""

    name: str = MessageField(description="Its name.")
    level: int = MessageField(default=1, description="How high.")
    points: list[Point] = MessageField(default=[])
    note: str | None = None
    _private: int = 3


class Holder(ModelMessage):
    value: Any = None


def test_a_message_is_built_from_keywords_and_defaults() -> None:
    scene = Scene(name="sea")
    assert (scene.name, scene.level, scene.points, scene.note) == ("sea", 1, [], None)
    assert Scene(name="sea", level=2) == Scene(name="sea", level=2)
    assert Scene(name="sea") != Scene(name="wood")
    assert repr(scene).startswith("Scene(name='sea', level=1")


def test_mutable_defaults_are_each_messages_own() -> None:
    Scene(name="a").points.append(Point(1))
    assert Scene(name="b").points == []


@pytest.mark.parametrize(
    ("values", "words"),
    [({}, "it needs 'name'"), ({"name": "x", "size": 1}, "it has no field 'size'")],
)
def test_missing_and_unknown_fields_are_type_errors(values: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=f"Scene: {words}"):
        Scene(**values)


def test_fields_are_inherited_and_replaced() -> None:
    class Wider(Scene):
        level: float = 0.5  # type: ignore[assignment]
        extra: bool = True

    assert body_of(Wider(name="a")) == {
        "name": "a",
        "level": 0.5,
        "points": [],
        "note": None,
        "extra": True,
    }


def test_a_dataclass_decorator_above_it_is_harmless() -> None:
    @dataclass
    class Ack(ModelMessage):
        code: int
        text: str = MessageField(default="ok")

    ack: Any = Ack
    assert body_of(ack(3)) == {"code": 3, "text": "ok"}
    assert wire_name(Ack) == "ack"


def test_messages_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(Scene(name="sea"))) == Scene(name="sea")


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("Scene", "scene"),
        ("CommandError", "command_error"),
        ("FPSChanged", "fps_changed"),
        ("HTTPStatus2", "http_status2"),
        ("A", "a"),
        ("Already_Snake", "already_snake"),
    ],
)
def test_wire_names_are_snake_case(name: str, wire: str) -> None:
    assert snake_case(name) == wire


def test_a_message_class_may_be_called_like_one_of_our_errors() -> None:
    class CommandError(ModelMessage):
        code: str

    assert wire_name(CommandError) == "command_error"
    assert body_of(CommandError(code="x")) == {"code": "x"}


@pytest.mark.parametrize(
    ("value", "body"),
    [
        (Mood.CALM, "calm"),
        (Point(1), {"x": 1.0, "y": 0.0}),
        ((1, "a"), [1, "a"]),
        ({2, 1}, [1, 2]),
        ({"a": [None, True]}, {"a": [None, True]}),
        ({1: "x"}, {"1": "x"}),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.zeros((1, 2), np.uint8), [[0, 0]]),
        (Holder(value=1), {"value": 1}),
        (2**70, 2**70),
    ],
)
def test_values_become_json(value: Any, body: Any) -> None:
    found = body_of(Holder(value=value))["value"]
    assert found == body
    assert type(found) is type(body)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "field", "words"),
    [
        (math.nan, "value", "nan"),
        (math.inf, "value", "inf"),
        ({"a": [1, -math.inf]}, "value.a[1]", "-inf"),
        (np.float32("nan"), "value", "nan"),
        (object(), "value", "object"),
        (b"x", "value", "bytes"),
        (datetime(2026, 1, 1), "value", "datetime"),
        (UploadedFile("a", "b", b"c"), "value.data", "bytes"),
        ({(1, 2): 3}, "value", "key"),
        ("\ud800", "value", "surrogate"),
        (10**400, "value", "too large"),
    ],
)
def test_what_json_cannot_say_is_an_error_naming_message_and_field(
    value: Any, field: str, words: str
) -> None:
    with pytest.raises(MessageBodyError, match=words) as caught:
        body_of(Holder(value=value))
    assert (caught.value.message, caught.value.field) == ("Holder", field)


def test_a_body_that_holds_itself_is_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(MessageBodyError, match="nested more than"):
        body_of(Holder(value=loop))


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_any_body_is_json_or_an_error(value: Any) -> None:
    try:
        text = json.dumps(to_json(value), allow_nan=False)
    except NotJsonError:
        return
    assert json.loads(text) == value


def test_a_field_may_have_any_name() -> None:
    class Odd(ModelMessage):
        self: int
        cls: int
        wire_name: str = "x"
        body_of: str = "y"
        values: str = "z"

    odd = Odd(self=1, cls=2)
    assert wire_name(type(odd)) == "odd"
    assert body_of(odd) == {"self": 1, "cls": 2, "wire_name": "x", "body_of": "y", "values": "z"}
