"""The older list of commands, made from the schema for the clients that ask for it."""

from collections.abc import Mapping
from typing import Any

_KEPT = ("type", "minimum", "maximum", "enum", "description")
_PREFIX = "/events/"


def make_capabilities(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return one entry ``{name, description, schema}`` per command of an OpenAPI document."""
    return tuple(
        {
            "name": path.removeprefix(_PREFIX),
            "description": item["post"].get("summary", ""),
            "schema": _arguments(item["post"]),
        }
        for path, item in schema.get("paths", {}).items()
    )


def _arguments(operation: Mapping[str, Any]) -> dict[str, Any]:
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    required = body.get("required", ())
    return {
        name: {
            **{key: found[key] for key in _KEPT if key in found},
            "required": name in required,
        }
        for name, found in body.get("properties", {}).items()
    }
