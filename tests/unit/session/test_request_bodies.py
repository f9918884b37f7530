from typing import Any

import pytest
from pydantic import ValidationError

from reactor_runtime.errors import StartRefusedError
from reactor_runtime.session.request_bodies import StopBody, read_start_body


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"extra_args": {"a": 1}},
        {"generation": "streamed"},
        {"session_id": "mine"},
        {"seed": 7},
        {"seed": 2**32 - 1},
        {"steps": None, "starting_input": None, "session_id": None},
    ],
)
def test_what_a_start_may_say(body: dict[str, Any]) -> None:
    assert read_start_body(body).generation == "streamed"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"generation": "stepped"}, "generation"),
        ({"generation": "soon"}, "generation"),
        ({"generation": 1}, "generation"),
        ({"session_id": 5}, "session_id"),
        ({"session_id": "x" * 257}, "session_id"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"steps": 3}, "steps"),
        ({"starting_input": {"state": {}}}, "starting_input"),
    ],
)
def test_what_it_may_not(body: dict[str, Any], key: str) -> None:
    with pytest.raises(StartRefusedError) as caught:
        read_start_body(body)
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{key}: ")


def test_what_comes_later_says_so() -> None:
    for key in ("steps", "starting_input"):
        with pytest.raises(StartRefusedError, match="not supported yet"):
            read_start_body({key: 1})


def test_a_stop_body_has_defaults_and_ignores_the_rest() -> None:
    stop = StopBody.model_validate({"later": 1})
    assert (stop.moderate, stop.reason) == (False, "")


@pytest.mark.parametrize("body", [{"reason": "x" * 65}, {"reason": 1}, {"moderate": "yes"}])
def test_a_stop_body_is_checked(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StopBody.model_validate(body)


def test_64_characters_are_a_reason() -> None:
    assert StopBody.model_validate({"reason": "x" * 64}).reason == "x" * 64
