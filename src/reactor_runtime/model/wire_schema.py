"""A pydantic schema as the JSON schema that clients read: pydantic's, in the shapes of the wire.

It is one piece without definitions, so a type inside itself is only an object; it has no titles,
and does not say that a record is closed, which all of them are.
"""

import contextlib
import copy
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from reactor_runtime.model.input_field import FieldInfo
from reactor_runtime.model.json_value import NotJsonError, to_json
from reactor_runtime.model.value_rules import FIELD, JSON

_RECORDS = {"typed-dict", "model-fields", "dataclass-args"}


class WireSchema(GenerateJsonSchema):
    """Writes one schema: ``WireSchema().generate_inner(schema)``, which the caller owns."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Any] = {}
        self._inside: list[str] = []

    def generate_inner(self, schema: Any) -> dict[str, Any]:
        """Return the JSON schema of a part."""
        marks = schema.get("metadata", {})
        if JSON in marks:
            found = copy.deepcopy(marks[JSON])
        else:  # without its name, lest pydantic make a definition of it
            found = super().generate_inner({k: v for k, v in schema.items() if k != "ref"})
        found.pop("title", None)
        if found.get("additionalProperties") is False:
            del found["additionalProperties"]
        return _described(found, marks[FIELD]) if FIELD in marks else found

    def definitions_schema(self, schema: Any) -> dict[str, Any]:
        """Return the JSON schema of a part whose parts name one another."""
        self._known.update({d["ref"]: d for d in schema["definitions"]})
        return self.generate_inner(schema["schema"])

    def definition_ref_schema(self, schema: Any) -> dict[str, Any]:
        """Return the JSON schema of the part named, any value where that is inside itself."""
        ref = schema["schema_ref"]
        part = self._known[ref]
        if ref in self._inside:
            return {"type": "object"} if part.get("schema", part)["type"] in _RECORDS else {}
        self._inside.append(ref)
        found = self.generate_inner(part)
        self._inside.pop()
        return found

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        """Return the JSON schema of a mapping, whatever its keys."""
        values = self.generate_inner(schema.get("values_schema", {"type": "any"}))
        return {"type": "object", "additionalProperties": values}

    def default_schema(self, schema: Any) -> dict[str, Any]:
        """Return the JSON schema of what has a default, and the default if a client can send it."""
        found = self.generate_inner(schema["schema"])
        return _with(found, default=schema["default"]) if "default" in schema else found

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return ``False``: names say enough."""
        return False

    def handle_ref_overrides(self, json_schema: dict[str, Any]) -> dict[str, Any]:
        """Return *json_schema*: the one reference in it is to the whole document."""
        return json_schema


def _described(schema: dict[str, Any], info: FieldInfo) -> dict[str, Any]:
    says = {
        "description": info.description or None,
        "minimum": info.ge,
        "maximum": info.le,
        "minLength": info.min_length,
        "maxLength": info.max_length,
    }
    if info.choices is not None:
        _with(schema.get("items", schema), enum=info.choices)
    return _with(schema, **{key: value for key, value in says.items() if value is not None})


def _with(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    for key, value in more.items():
        with contextlib.suppress(NotJsonError):  # infinity, say
            schema[key] = to_json(value)
    return schema
