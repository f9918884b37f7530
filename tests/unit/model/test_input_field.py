"""InputField: what may stand on the right-hand side, and what is refused at class definition."""

import pickle
from enum import Enum
from typing import Any

import pytest

from reactor_runtime import FieldInfo, InputField, InputState, ReactorModel, event
from reactor_runtime.model.input_field import MISSING


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


def state_with(default: Any) -> type[InputState]:
    class Settings(InputState):
        level: Any = default

    return Settings


def model_with(default: Any) -> type[ReactorModel]:
    class Model(ReactorModel):
        @event
        def act(self, level: Any = default) -> None: ...

    return Model


@pytest.mark.parametrize("define", [state_with, model_with])
@pytest.mark.parametrize(
    ("field", "words"),
    [
        (InputField(default=-1, ge=0), "at least 0"),
        (InputField(default=2.5, le=2), "at most 2"),
        (InputField(default="", min_length=1), "at least 1 characters"),
        (InputField(default="long", max_length=3), "at most 3 characters"),
        (InputField(default=("a",), min_length=2), "at least 2 items"),
        (InputField(default="red", choices=["green", "blue"]), "one of 'green', 'blue'"),
        (InputField(default=True, choices=[1, 2]), "one of 1, 2"),
        (InputField(default=[]), "list"),
        (InputField(default={}), "dict"),
        (InputField(default=set()), "set"),
        (InputField(default=1, ge=3, le=2), "no value fits"),
        (InputField(choices=[]), "no value fits"),
        (InputField(ge=True), "give a number"),
    ],
)
def test_a_field_that_cannot_be_is_a_type_error_naming_it(
    define: Any, field: Any, words: str
) -> None:
    with pytest.raises(TypeError, match="level") as caught:
        define(field)
    assert words in str(caught.value)
    assert ("Settings" in str(caught.value)) or ("act" in str(caught.value))


@pytest.mark.parametrize("define", [state_with, model_with])
@pytest.mark.parametrize(
    "field",
    [
        InputField(default=0, ge=0, le=0),
        InputField(default=None, ge=0, min_length=3, choices=["a"]),
        InputField(default=(), max_length=2),
        InputField(default="calm", choices=Mood),
        InputField(default=Mood.CALM, choices=["calm", "wild"]),
        InputField(default=float("inf"), ge=0),
        InputField(default=1, choices=[0.5, 1.0]),
        InputField(),
        InputField(...),
        InputField("positional"),
    ],
)
def test_fields_that_make_sense_are_taken(define: Any, field: Any) -> None:
    assert define(field)


def test_the_object_is_a_field_info_with_what_was_said() -> None:
    field = InputField(default=1, description="how much", ge=0, le=2, choices=[1, 2], moderate=True)
    assert isinstance(field, FieldInfo)
    assert (field.default, field.description, field.ge, field.le) == (1, "how much", 0, 2)
    assert (field.choices, field.moderate) == ((1, 2), True)
    assert not field.required


def test_no_default_means_required() -> None:
    assert InputField().required
    assert InputField(...).required
    assert not InputField(default=None).required


def test_a_field_survives_pickling() -> None:
    field = pickle.loads(pickle.dumps(InputField(ge=0)))
    assert field.required
    assert field.default is MISSING


def test_one_object_serves_several_parameters() -> None:
    shared = InputField(default=0.5, ge=0, le=1)

    class Model(ReactorModel):
        @event
        def mix(self, left: float = shared, right: float = shared) -> None: ...

    from reactor_runtime.model.contract import ModelContract

    contract = ModelContract.of(Model)
    assert contract.bind("mix", {"right": 1}) == {"left": 0.5, "right": 1.0}


def test_a_handler_called_directly_without_the_argument_receives_the_object() -> None:
    class Model(ReactorModel):
        @event
        def act(self, level: int = InputField(default=3)) -> Any:
            return level

    assert Model().act().default == 3
    assert Model().act(level=4) == 4
