"""Declared types made of others: lists, tuples, mappings, dataclasses."""

import contextlib
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reactor_runtime.model.input_field import MISSING, FieldInfo
from reactor_runtime.model.json_value import NotJsonError, to_json
from reactor_runtime.model.value_types import (
    Integer,
    MismatchError,
    Schema,
    ValueType,
    check_level,
    step_into,
)

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
_MOST_NAME_LETTERS = 40


class Items(ValueType):
    """A list of one type, built as a list, tuple or set."""

    words = "a list"

    def __init__(self, item: ValueType, build: Callable[[list[Any]], Any] = list) -> None:
        self.item, self._build = item, build

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return the items, each normalised."""
        if not isinstance(value, list | tuple):
            raise self.refuse(value)
        check_level(level)
        items = [step_into(self.item, v, level, f"[{i}]") for i, v in enumerate(value)]
        try:
            return self._build(items)
        except TypeError:  # a set of things that cannot be in one
            raise MismatchError("has items that cannot be told apart") from None

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "array", "items": self.item.schema()}


class Row(ValueType):
    """A tuple of so many items, each of its own type."""

    def __init__(self, items: Sequence[ValueType]) -> None:
        self.items = items
        self.words = f"a list of {len(items)}"

    def accept(self, value: Any, level: int = 0) -> tuple[Any, ...]:
        """Return the items as a tuple."""
        if not isinstance(value, list | tuple):
            raise self.refuse(value)
        if len(value) != len(self.items):
            raise MismatchError(f"must have {len(self.items)} items, not {len(value)}")
        check_level(level)
        pairs = enumerate(zip(self.items, value, strict=True))
        return tuple(step_into(kind, v, level, f"[{i}]") for i, (kind, v) in pairs)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        count = len(self.items)
        return {
            "type": "array",
            "prefixItems": [item.schema() for item in self.items],
            "minItems": count,
            "maxItems": count,
        }


class Table(ValueType):
    """A mapping; whole-number keys are read from their text, as JSON has text keys only."""

    words = "an object"

    def __init__(self, key: ValueType, value: ValueType) -> None:
        self.key, self.value = key, value

    def accept(self, value: Any, level: int = 0) -> dict[Any, Any]:
        """Return the entries, each normalised."""
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        check_level(level)
        return {self._key(k): step_into(self.value, v, level, _at(k)) for k, v in value.items()}

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "object", "additionalProperties": self.value.schema()}

    def _key(self, key: Any) -> Any:
        if isinstance(self.key, Integer) and isinstance(key, str) and _WHOLE_NUMBER.fullmatch(key):
            key = int(key)
        try:
            return self.key.accept(key)
        except MismatchError as error:
            raise MismatchError(f"has a key that {error.reason}") from None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One field of a record.

    Attributes:
        type: What its value is.
        info: What it accepts besides, and its default.
        is_optional: It can be left out although it has no default of its own.
    """

    type: ValueType
    info: FieldInfo
    is_optional: bool = False

    @property
    def required(self) -> bool:
        """Return whether a value must be sent."""
        return not self.is_optional and self.info.required

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* normalised and within its constraints."""
        value = self.type.accept(value, level)
        reason = self.info.refusal(value)
        if reason:
            raise MismatchError(reason)
        return value

    def schema(self) -> Schema:
        """Return the JSON schema with constraints, choices, default and description."""
        schema = self.type.schema()
        info = self.info
        bounds = {
            "description": info.description or None,
            "minimum": _bound(info.ge),
            "maximum": _bound(info.le),
            "minLength": info.min_length,
            "maxLength": info.max_length,
        }
        schema.update({key: value for key, value in bounds.items() if value is not None})
        if info.choices is not None:
            holder = schema.get("items", schema)
            holder["enum"] = [to_json(choice) for choice in info.choices]
        if not info.required:
            with contextlib.suppress(NotJsonError):  # no client could send it: infinity, say
                schema["default"] = to_json(info.default)
        return schema


class Record(ValueType):
    """A dataclass or typed dict, from an object with exactly its fields.

    The fields are read when first needed, so that one may hold itself.
    """

    words = "an object"

    def __init__(self, build: Callable[..., Any], read: Callable[[], dict[str, Slot]]) -> None:
        self._build, self._read = build, read
        self._slots: dict[str, Slot] | None = None
        self._is_open = False

    @property
    def slots(self) -> dict[str, Slot]:
        """The fields by name."""
        if self._slots is None:
            self._slots = self._read()
        return self._slots

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return the dataclass made of the entries."""
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        check_level(level)
        values = self._values(value, level)
        try:
            return self._build(**values)
        except Exception as error:  # the author's own __post_init__ may refuse
            raise MismatchError(f"was refused ({type(error).__name__})") from error

    def _values(self, value: Mapping[Any, Any], level: int) -> dict[str, Any]:
        for name in value:
            if name not in self.slots:
                raise MismatchError(f"has no field {short_name(name)!r}")
        values = {}
        for name, slot in self.slots.items():
            if name in value:
                values[name] = step_into(slot, value[name], level, f".{name}")
            elif slot.required:
                raise MismatchError(f"lacks the field {name!r}")
            elif slot.info.default is not MISSING:
                values[name] = slot.info.default
        return values

    def schema(self) -> Schema:
        """Return the JSON schema; one inside itself is only an object."""
        if self._is_open:
            return {"type": "object"}
        self._is_open = True
        try:
            schema: Schema = {
                "type": "object",
                "properties": {name: slot.schema() for name, slot in self.slots.items()},
            }
        finally:
            self._is_open = False
        required = [name for name, slot in self.slots.items() if slot.required]
        return {**schema, "required": required} if required else schema


class Again(ValueType):
    """A type inside itself: what an alias that names itself means there.

    Attributes:
        target: The type it is, set once that has been read.
    """

    words = "the same again"

    def __init__(self) -> None:
        self.target: ValueType | None = None
        self._is_open = False

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* as the type takes it."""
        return value if self.target is None else self.target.accept(value, level)

    def schema(self) -> Schema:
        """Return the JSON schema; any value, where it is inside itself once more."""
        if self._is_open or self.target is None:
            return {}
        self._is_open = True
        try:
            return self.target.schema()
        finally:
            self._is_open = False


def short_name(name: object) -> str:
    """Return a name that a client gave, cut to what an error may repeat."""
    text = name if isinstance(name, str) else "(not text)"
    cut = text if len(text) <= _MOST_NAME_LETTERS else f"{text[: _MOST_NAME_LETTERS - 1]}…"
    return "".join(letter if letter.isprintable() else "?" for letter in cut)


def _at(key: Any) -> str:
    return f".{key}" if isinstance(key, str) and len(key) <= _MOST_NAME_LETTERS else ".…"


def _bound(bound: float | None) -> Any:
    return None if bound is None or abs(bound) == float("inf") else to_json(bound)
