"""Declared types that only pydantic knows: a date, a UUID, a typed dict, a pydantic model."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reactor_runtime.model.value_types import MismatchError, Schema, ValueType

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_DEFINITIONS = "#/$defs/"


class Foreign(ValueType):
    """A type of a library, read from JSON strictly. pydantic is loaded for these alone.

    Raises:
        TypeError: pydantic does not know it either.
    """

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation
        self.words = f"a {getattr(annotation, '__name__', annotation)}"

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* as pydantic reads it."""
        from pydantic import ValidationError

        try:
            text = json.dumps(_integral(value), allow_nan=False)
            return self._adapter.validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
            raise MismatchError(f"must be {self.words} ({first['type']})", path[:60]) from None
        except (ValueError, TypeError, RecursionError):
            raise self.refuse(value) from None

    def schema(self) -> Schema:
        """Return the JSON schema pydantic writes, in one piece."""
        schema = self._adapter.json_schema()
        definitions = schema.pop("$defs", {})
        return dict(_in_one_piece(schema, definitions, ()))

    @cached_property
    def _adapter(self) -> "TypeAdapter[Any]":
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        try:
            return TypeAdapter(self._annotation)
        except PydanticUserError as error:
            raise TypeError(
                f"{self._annotation!r} is no type a client can send; use numbers, text, lists, "
                "dataclasses, enums or UploadedFile"
            ) from error


def _integral(value: Any) -> Any:
    """Return *value* with whole doubles as ints, which strict reading takes for either."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_integral(v) for v in value]
    if isinstance(value, Mapping):
        return {k: _integral(v) for k, v in value.items()}
    return value


def _in_one_piece(part: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """Return a schema with its definitions in the places that refer to them."""
    if isinstance(part, list):
        return [_in_one_piece(p, definitions, inside) for p in part]
    if not isinstance(part, dict):
        return part
    name = str(part.get("$ref", "")).removeprefix(_DEFINITIONS)
    if name in inside:
        return {"type": "object"}
    if name in definitions:
        return _in_one_piece(definitions[name], definitions, (*inside, name))
    return {key: _in_one_piece(p, definitions, inside) for key, p in part.items()}
