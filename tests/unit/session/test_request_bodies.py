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
        {"seed": 2**63 - 1},
        {"seed": 7.0, "steps": 3.0},
        {"extra_args": {"seed": 7, "other": [1]}},
        {"extra_args": {"seed": 7}, "seed": 7},
        {"extra_args": None},
        {"steps": 10_000},
        {"starting_input": {}},
        {"starting_input": {"state": {"a": 1}, "commands": [{"command": "b"}]}},
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
        ({"seed": 2**63}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"seed": 1, "extra_args": {"seed": 2}}, "seed"),
        ({"extra_args": {"seed": -1}}, "extra_args.seed"),
        ({"extra_args": {"seed": 0.5}}, "extra_args.seed"),
        ({"extra_args": [1]}, "extra_args"),
        ({"seed": True}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"steps": 0}, "steps"),
        ({"steps": 10_001}, "steps"),
        ({"steps": True}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"starting_input": []}, "starting_input"),
        ({"starting_input": {"later": 1}}, "starting_input.later"),
        ({"starting_input": {"state": [1]}}, "starting_input.state"),
        ({"starting_input": {"commands": [{"data": {}}]}}, "starting_input.commands[0].command"),
        (
            {"starting_input": {"commands": [{"command": "a"}, {"command": "b", "x": 1}]}},
            "starting_input.commands[1].x",
        ),
    ],
)
def test_what_it_may_not(body: dict[str, Any], key: str) -> None:
    with pytest.raises(StartRefusedError) as caught:
        read_start_body(body)
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{key}: ")


@pytest.mark.parametrize(
    ("body", "seed"),
    [({}, None), ({"seed": 5}, 5), ({"extra_args": {"seed": 6}}, 6), ({"seed": 0}, 0)],
)
def test_the_seed_may_stand_in_two_places(body: dict[str, Any], seed: int | None) -> None:
    assert read_start_body(body).chosen_seed == seed


def test_what_is_recorded_of_a_start_is_bounded() -> None:
    short = {"steps": 3, "starting_input": {"state": {"a": "x"}, "commands": []}}
    assert read_start_body(short).for_record() == short
    long = {"steps": 3, "starting_input": {"state": {"a": 5000 * "x"}}}
    assert read_start_body(long).for_record() == {"steps": 3}


def test_a_stop_body_has_defaults_and_ignores_the_rest() -> None:
    stop = StopBody.model_validate({"later": 1})
    assert (stop.moderate, stop.reason) == (False, "")


@pytest.mark.parametrize("body", [{"reason": "x" * 65}, {"reason": 1}, {"moderate": "yes"}])
def test_a_stop_body_is_checked(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StopBody.model_validate(body)


def test_64_characters_are_a_reason() -> None:
    assert StopBody.model_validate({"reason": "x" * 64}).reason == "x" * 64


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            {"starting_input": {"stat": {}}},
            "starting_input.stat: found an unknown key; wanted a known one: starting_input.state?",
        ),
        (
            {"starting_input": {"commands": [{"command": "a", "later": 1}]}},
            "starting_input.commands[0].later: found an unknown key; wanted one of command, data",
        ),
        (
            {"starting_input": {"commands": [{"comand": "a"}]}},
            "found an unknown key; wanted a known one: starting_input.commands[0].command?",
        ),
        ({"steps": 0}, "steps: found 0; wanted 1 or more"),
        ({"seed": "7"}, "seed: found the text '7'; wanted a whole number"),
        ({"session_id": "x" * 257}, f"found the text '{'x' * 60}'…; wanted at most 256 characters"),
        ({"starting_input": []}, "starting_input: found a list; wanted a mapping"),
    ],
)
def test_a_refusal_says_what_was_found_and_wanted(body: dict[str, Any], text: str) -> None:
    with pytest.raises(StartRefusedError) as caught:
        read_start_body(body)
    assert text in str(caught.value)
