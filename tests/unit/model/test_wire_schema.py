"""JSON schemas of arguments: pydantic's, in one piece and in the shapes of the wire."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel

from reactor_runtime import InputField, ReactorModel, UploadedFile, event
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.openapi import arguments_schema

REFERENCE = {"$ref": "#/components/schemas/ReactorUploadReference"}


@dataclass
class Tree:
    name: str
    title: str = InputField(default="none", max_length=9, description="Shown above.")
    children: list["Tree"] = field(default_factory=list)


class Size(TypedDict):
    width: int


class Node(BaseModel):
    """One of many."""

    title: str = "none"
    weight: float = float("inf")
    next: "Node | None" = None


Json = dict[str, "Json"] | list["Json"] | str | float | None


def written(annotation: Any, default: Any = InputField()) -> dict[str, Any]:
    """Return the JSON schema of one argument, less the hint that all of them have."""

    class Model(ReactorModel):
        def act(self, arg: Any = default) -> None: ...

        act.__annotations__["arg"] = annotation
        event(act)

    schema = arguments_schema(ModelContract.of(Model).commands["act"])["properties"]["arg"]
    assert "x-reactor-moderate" in schema
    return {key: value for key, value in schema.items() if key != "x-reactor-moderate"}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (set[int], {"type": "array", "items": {"type": "integer"}}),
        (deque[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[float, ...], {"type": "array", "items": {"type": "number"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (dict[Literal["a"], int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (
            Size,
            {"type": "object", "properties": {"width": {"type": "integer"}}, "required": ["width"]},
        ),
        (
            list[UploadedFile | None],
            {"type": "array", "items": {"anyOf": [REFERENCE, {"type": "null"}]}},
        ),
        (
            Json,
            {
                "anyOf": [
                    {"type": "object", "additionalProperties": {}},
                    {"type": "array", "items": {}},
                    {"type": "string"},
                    {"type": "number"},
                    {"type": "null"},
                ]
            },
        ),
        (
            Tree,
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "title": {
                        "type": "string",
                        "default": "none",
                        "description": "Shown above.",
                        "maxLength": 9,
                    },
                    "children": {"type": "array", "items": {"type": "object"}},
                },
                "required": ["name"],
            },
        ),
        (
            Node,
            {
                "type": "object",
                "description": "One of many.",
                "properties": {
                    "title": {"type": "string", "default": "none"},
                    "weight": {"type": "number"},
                    "next": {"anyOf": [{"type": "object"}, {"type": "null"}], "default": None},
                },
            },
        ),
    ],
)
def test_types_are_written_so(annotation: Any, schema: Any) -> None:
    assert written(annotation) == schema


def test_what_json_cannot_say_is_left_out() -> None:
    assert written(float, InputField(default=float("inf"), ge=0, le=float("inf"))) == {
        "type": "number",
        "minimum": 0,
    }


def test_a_description_stands_beside_the_reference_to_a_file() -> None:
    described = {**REFERENCE, "description": "A face."}
    assert written(UploadedFile, InputField(description="A face.")) == described


def test_a_caller_owns_what_it_gets() -> None:
    class Model(ReactorModel):
        @event
        def act(self, side: Literal["a", "b"], note: Any = None) -> None: ...

    command = ModelContract.of(Model).commands["act"]
    first = arguments_schema(command)
    first["properties"]["side"]["enum"].append("c")
    first["properties"]["note"]["type"] = "object"
    assert arguments_schema(command) != first
