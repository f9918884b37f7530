"""Python values as JSON values, for messages to clients and for defaults in a schema."""

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from typing import Any

from reactor_runtime.errors import MessageBodyError

_MOST_LEVELS = 64
_MOST_BITS = 1023  # what a double can still hold


class NotJsonError(Exception):
    """Raised when a value has no JSON form; *path* leads to it, *reason* says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason


def to_json_fields(message: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return *fields* as JSON values.

    Raises:
        MessageBodyError: Naming *message*, the field and what to send instead.
    """
    body = {}
    for name, value in fields.items():
        try:
            body[name] = to_json(value)
        except NotJsonError as error:
            raise MessageBodyError(message, f"{name}{error.path}", error.reason) from error
    return body


def to_json(value: Any, path: str = "", level: int = 0) -> Any:
    """Return *value* as ``None``, bool, int, float, str, list or dict with text keys.

    Enums become their values, dataclasses and messages objects, tuples and sets lists, numpy
    scalars numbers, arrays and tensors nested lists.

    Raises:
        NotJsonError: It has no such form.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return to_json(value.value, path, level)
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int | float):
        return _number(value, path)
    if level >= _MOST_LEVELS:
        raise NotJsonError(path[:60], f"is nested more than {_MOST_LEVELS} levels deep")
    return _compound(value, path, level + 1)


def brief_json(value: Any, most: int) -> str:
    """Return *value* as JSON text for people: *most* characters at most, ``…`` where it is cut.

    What JSON has no form for stands as its kind, ``<Generator>``. No more of *value* is looked at
    than is told, and nothing waits for an accelerator, so that an event loop may ask.
    """
    text = ""
    try:
        for piece in _pieces(value, most, 0):
            text += piece
            if len(text) > most:
                break
    except BaseException:  # noqa: BLE001 - the author's own object, which another thread may change
        text += " " * most
    text = text.encode(errors="replace").decode()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _pieces(value: Any, most: int, level: int) -> Iterator[str]:
    if isinstance(value, Enum):
        value = value.value
    members = value if isinstance(value, Mapping) else _fields(value)
    if level >= _MOST_LEVELS:
        yield "…"
    elif isinstance(value, str):
        yield json.dumps(value[:most], ensure_ascii=False)
    elif members is not None:
        start = "{"
        for key, each in members.items():
            yield f"{start}{json.dumps(_key(key, '')[:most], ensure_ascii=False)}: "
            yield from _pieces(each, most, level + 1)
            start = ", "
        yield "{}" if start == "{" else "}"
    elif (elements := _elements(value)) is not None:
        start = "["
        for each in elements:
            yield start
            yield from _pieces(each, most, level + 1)
            start = ", "
        yield "[]" if start == "[" else "]"
    else:
        yield _leaf(value)


def _elements(value: Any) -> Iterator[Any] | None:
    """Return what a list, set or array of this machine's own memory holds, one by one."""
    if isinstance(value, list | tuple | Set):
        return iter(value)
    if hasattr(value, "tolist") and getattr(value, "shape", None) and _is_at_hand(value):
        return (value[index] for index in range(len(value)))  # a tensor's own iterator copies all
    return None


def _leaf(value: Any) -> str:
    try:
        if _is_at_hand(value):
            return json.dumps(to_json(value))
    except NotJsonError:
        pass
    return f"<{type(value).__qualname__}>"


def _is_at_hand(value: Any) -> bool:
    """Return whether reading *value* waits for no accelerator."""
    return "cpu" in str(getattr(value, "device", "cpu")).lower()


def _compound(value: Any, path: str, level: int) -> Any:
    if isinstance(value, list | tuple):
        return [to_json(v, f"{path}[{i}]", level) for i, v in enumerate(value)]
    if isinstance(value, Set):
        return [to_json(v, f"{path}[…]", level) for v in sorted(value, key=repr)]
    if isinstance(value, Mapping):
        return {_key(k, path): to_json(v, f"{path}.{k}", level) for k, v in value.items()}
    fields = _fields(value)
    if fields is not None:
        return {k: to_json(v, f"{path}.{k}", level) for k, v in fields.items()}
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return to_json(value.tolist(), path, level)
    kind = type(value).__qualname__
    raise NotJsonError(
        path, f"is a {kind}, which JSON has no form for; send numbers, text, lists, dicts"
    )


def _fields(value: Any) -> dict[str, Any] | None:
    declared = getattr(type(value), "_reactor_fields", None)
    if declared is not None:
        return {name: getattr(value, name) for name in declared}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


def _key(key: Any, path: str) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise NotJsonError(path, f"has a {type(key).__qualname__} as a key; keys are text")
    return _text(str(key), path)


def _number(value: float, path: str) -> float:
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise NotJsonError(path, "is too large a number for JSON readers; send it as text")
        return int(value)
    if not math.isfinite(value):
        raise NotJsonError(path, f"is {value}, which JSON cannot say; send a number or None")
    return float(value)


def _text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotJsonError(path, "is text with half a character (a lone surrogate)") from None
    return str(value)
