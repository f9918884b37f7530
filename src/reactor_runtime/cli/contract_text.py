"""A model's contract as lines for people: tracks, commands, messages, hooks."""

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import Any

from reactor_runtime.model.command import CommandContract, CommandField
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.messages import wire_name
from reactor_runtime.model.openapi import arguments_schema
from reactor_runtime.model.tracks import Track, TrackDirection
from reactor_runtime.model.value_schema import on_the_wire

_MAX_DEFAULT = 40  # characters of a default that are shown


def contract_lines(contract: ModelContract) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line."""
    yield "class", contract.name
    for direction, label in ((TrackDirection.OUT, "output"), (TrackDirection.IN, "input")):
        tracks = [track for track in contract.tracks if track.direction is direction]
        nothing = "none; it can only send messages" if label == "output" else "none"
        yield f"{label} tracks", ", ".join(map(_track, tracks)) or nothing
    yield "state", contract.state_class.__name__ if contract.state_class else "none"
    hooks = [each.name for each in fields(contract.lifecycle)]
    yield "hooks", ", ".join(n for n in hooks if getattr(contract.lifecycle, n)) or "none"
    yield "messages", ", ".join(contract.messages) or "none"
    for number, command in enumerate(contract.commands.values()):
        yield "" if number else "commands", _command(command)
    if not contract.commands:
        yield "commands", "none"


def _track(track: Track) -> str:
    rate = f", {track.sample_rate} Hz" if track.sample_rate else ""
    return f"{track.name} ({track.kind}{rate})"


def _command(command: CommandContract) -> str:
    shapes = arguments_schema(command)["properties"]
    arguments = ", ".join(_argument(f, shapes[f.name]) for f in command.fields.values())
    replies = " or ".join(wire_name(reply) for reply in command.replies)
    return f"{command.name}({arguments}){f' → {replies}' if replies else ''}"


def _argument(field: CommandField, shape: Any) -> str:
    default = "" if field.info.required else f" = {_short(field.info.default)}"
    return f"{field.name}: {_values(field, shape)}{default}"


def _values(field: CommandField, shape: Any) -> str:
    """Return what the argument may be: its choices, or its type and limits."""
    info, kind = field.info, _named(shape)
    if info.choices:
        return f"one of {', '.join(map(str, info.choices))}"
    low, high = _number(info.ge), _number(info.le)
    if low and high:
        return f"{kind} {low}…{high}"
    if low or high:
        return f"{kind} ≥ {low}" if low else f"{kind} ≤ {high}"
    return kind


def _number(value: float | None) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    return "" if value is None else str(value)


def _short(value: Any) -> str:
    text = str(on_the_wire(value)) if isinstance(value, Enum) else repr(value)
    return text if len(text) <= _MAX_DEFAULT else f"{text[:_MAX_DEFAULT]}…"


def _named(schema: Any) -> str:
    """Return a JSON schema's type in one or two words."""
    if "$ref" in schema:
        return "file"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_named(each) for each in schema["anyOf"])
    kind = str(schema.get("type", "anything"))
    if "prefixItems" in schema:
        return f"list of ({', '.join(map(_named, schema['prefixItems']))})"
    if kind == "array":
        return f"list of {_named(schema.get('items', {}))}"
    return kind
