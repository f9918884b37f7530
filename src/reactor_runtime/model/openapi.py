"""A contract as an OpenAPI 3.1 document. The paths in it are commands, not HTTP endpoints."""

import copy
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactor_runtime.model.annotations import names_around
from reactor_runtime.model.file_references import UPLOAD_REFERENCE
from reactor_runtime.model.value_rules import ANYTHING, field
from reactor_runtime.model.value_schema import SchemaReader

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from reactor_runtime.model.command import CommandContract
    from reactor_runtime.model.contract import ModelContract
    from reactor_runtime.model.declared_fields import DeclaredField
    from reactor_runtime.model.messages import ModelMessage

Schema = dict[str, Any]

UNSTAMPED = "v0.0.0"

_UPLOAD_REFERENCE: Schema = {
    "type": "object",
    "format": "reactor-upload-reference",
    "properties": {
        "upload_id": {"type": "string", "format": "uuid"},
        "name": {"type": "string"},
        "mime_type": {"type": "string"},
        "size": {"type": "integer"},
    },
    "required": ["upload_id", "name", "mime_type", "size"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSchema:
    """A contract under a title, ready to be written down."""

    title: str
    description: str
    contract: "ModelContract"

    def to_openapi(self, version: str = UNSTAMPED) -> dict[str, Any]:
        """Return the document; the caller owns it."""
        contract = self.contract
        document: dict[str, Any] = {
            "openapi": "3.1.0",
            "info": {"title": self.title, "version": version, "description": self.description},
            "x-reactor": {
                "tracks": [
                    {"name": t.name, "kind": t.kind.value, "direction": t.direction.value}
                    for t in contract.tracks
                ]
            },
        }
        if contract.commands:
            document["paths"] = {f"/events/{n}": _path(c) for n, c in contract.commands.items()}
        if contract.messages:
            document["webhooks"] = {n: _webhook(n, m) for n, m in contract.messages.items()}
        schemas = {m.__name__: _message(m) for m in contract.messages.values()}
        document["components"] = {
            "schemas": {**schemas, UPLOAD_REFERENCE: copy.deepcopy(_UPLOAD_REFERENCE)}
        }
        return document


def _path(command: "CommandContract") -> Schema:
    return {
        "post": {
            "operationId": command.name,
            "summary": command.description or f"Trigger {command.name}",
            "requestBody": {"required": True, **_content(arguments_schema(command))},
            "responses": _responses(command),
        }
    }


def arguments_schema(command: "CommandContract") -> Schema:
    """Return the JSON schema of a command's arguments; the caller owns it."""
    schema = _json_schema(command.schema)
    for name, argument in command.fields.items():
        schema["properties"][name]["x-reactor-moderate"] = argument.info.moderate
    return schema


def _responses(command: "CommandContract") -> Schema:
    names = [reply.__name__ for reply in command.replies]
    if not names:
        return {"202": {"description": "Command accepted"}}
    refs = [_ref(name) for name in names]
    schema = refs[0] if len(refs) == 1 else {"anyOf": refs}
    return {"200": {"description": " | ".join(names), **_content(schema)}}


def _webhook(name: str, message: "type[ModelMessage]") -> Schema:
    summary = inspect.cleandoc(vars(message).get("__doc__") or "").split("\n\n")[0]
    operation: Schema = {"operationId": name}
    if summary and not summary.startswith(f"{message.__name__}("):  # what a dataclass writes
        operation["summary"] = " ".join(summary.split())
    operation["requestBody"] = {"required": True, **_content(_ref(message.__name__))}
    return {"post": operation}


def _message(message: "type[ModelMessage]") -> Schema:
    reader = SchemaReader()
    fields = {
        name: field(_kind(reader, declared), declared.info, declared.has_default)
        for name, declared in message._reactor_fields.items()
        if declared.is_public
    }
    return _json_schema(reader.record(fields))


def _kind(reader: SchemaReader, declared: "DeclaredField") -> "CoreSchema":
    try:
        return reader.read(declared.annotation, names_around(declared.owner))
    except (NameError, TypeError):  # we check what is sent, not what it was said to be
        return ANYTHING


def _json_schema(schema: "CoreSchema") -> Schema:
    from reactor_runtime.model.wire_schema import WireSchema  # loads all of pydantic

    return WireSchema().generate_inner(schema)


def _content(schema: Schema) -> Schema:
    return {"content": {"application/json": {"schema": schema}}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
