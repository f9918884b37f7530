"""A contract as an OpenAPI 3.1 document. The paths in it are commands, not HTTP endpoints."""

import copy
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactor_runtime.model.annotations import names_around
from reactor_runtime.model.compound_types import Slot
from reactor_runtime.model.value_reader import read_type
from reactor_runtime.model.value_types import Anything, Schema, ValueType

if TYPE_CHECKING:
    from reactor_runtime.model.command import CommandContract
    from reactor_runtime.model.contract import ModelContract
    from reactor_runtime.model.declared_fields import DeclaredField
    from reactor_runtime.model.messages import ModelMessage

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
            "schemas": {**schemas, "ReactorUploadReference": copy.deepcopy(_UPLOAD_REFERENCE)}
        }
        return document


def _path(command: "CommandContract") -> Schema:
    return {
        "post": {
            "operationId": command.name,
            "summary": command.description or f"Trigger {command.name}",
            "requestBody": {"required": True, **_content(_arguments(command))},
            "responses": _responses(command),
        }
    }


def _arguments(command: "CommandContract") -> Schema:
    properties = {
        name: {**field.slot.schema(), "x-reactor-moderate": field.info.moderate}
        for name, field in command.fields.items()
    }
    required = [name for name, field in command.fields.items() if field.info.required]
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


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
    fields = {n: f for n, f in message._reactor_fields.items() if f.is_public}
    schema: Schema = {
        "type": "object",
        "properties": {
            name: Slot(type=_message_type(field), info=field.info).schema()
            for name, field in fields.items()
        },
    }
    required = [name for name, field in fields.items() if not field.has_default]
    return {**schema, "required": required} if required else schema


def _message_type(field: "DeclaredField") -> ValueType:
    try:
        return read_type(field.annotation, names_around(field.owner))
    except (NameError, TypeError):  # we check what is sent, not what it was said to be
        return Anything()


def _content(schema: Schema) -> Schema:
    return {"content": {"application/json": {"schema": schema}}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
