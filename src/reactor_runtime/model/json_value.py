"""Python values as JSON values, for messages to clients and for defaults in a schema."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Set
from enum import Enum
from itertools import islice
from typing import Any

from reactor_runtime.errors import MessageBodyError

_MOST_LEVELS = 64
_MOST_BITS = 1023  # what a double can still hold
_TOO_DEEP = f"is nested more than {_MOST_LEVELS} levels deep"
_HALF_A_CHARACTER = "is text with half a character (a lone surrogate)"
_DEEPER = object()  # stands for what lies below the deepest level


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
        raise NotJsonError(path[:60], _TOO_DEEP)
    return _compound(value, path, level + 1)


def brief_json(value: Any, most: int) -> str:
    """Return *value* as JSON text for people: *most* characters at most, ``…`` where it is cut.

    What JSON has no form for stands as its kind, ``<Generator>``. No more of *value* is looked at
    than is told, and nothing waits for an accelerator, so that an event loop may ask.
    """
    text = ""
    try:
        for piece in _pieces(value, most, _shown_leaf):
            text += piece
            if len(text) > most:
                break
    except BaseException:  # noqa: BLE001 - the author's own object, which another thread may change
        text += " " * most
    text = text.encode(errors="replace").decode()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def whole_json(value: Any, most: int) -> str:
    """Return *value* as JSON text, all of it, in *most* bytes of UTF-8.

    Like ``brief_json`` it looks at no more than it may tell, waits for no accelerator and bears
    whatever an author's object does, so that a thread of ours may ask.

    Raises:
        NotJsonError: It is longer, has no such form, lies on an accelerator, or raised when read.
    """
    pieces, length = list[str](), 0
    try:
        for piece in _pieces(value, most, _exact_leaf):
            pieces.append(piece)
            length += len(piece.encode())
            if length > most:
                raise NotJsonError("", f"is more than {most} bytes long")
    except NotJsonError:
        raise
    except UnicodeEncodeError:
        raise NotJsonError("", _HALF_A_CHARACTER) from None
    except BaseException as error:  # noqa: BLE001 - the author's own object, as above
        raise NotJsonError("", f"raised {type(error).__name__} when it was read") from None
    return "".join(pieces)


Leaf = Callable[[Any], str]


def _pieces(value: Any, most: int, leaf: Leaf, level: int = 0) -> Iterator[str]:
    if isinstance(value, Enum):
        value = value.value
    members = value if isinstance(value, Mapping) else _fields(value)
    if level >= _MOST_LEVELS:
        yield leaf(_DEEPER)
    elif isinstance(value, str):
        yield json.dumps(value[:most], ensure_ascii=False)
    elif members is not None:
        start = "{"
        for key, each in members.items():
            yield f"{start}{json.dumps(_key(key, '')[:most], ensure_ascii=False)}: "
            yield from _pieces(each, most, leaf, level + 1)
            start = ", "
        yield "{}" if start == "{" else "}"
    elif (elements := _elements(value, most)) is not None:
        start = "["
        for each in elements:
            yield start
            yield from _pieces(each, most, leaf, level + 1)
            start = ", "
        yield "[]" if start == "[" else "]"
    else:
        yield leaf(value)


def _elements(value: Any, most: int) -> Iterator[Any] | None:
    """Return what a list, set or array of this machine's own memory holds, one by one."""
    if isinstance(value, Set):
        return iter(sorted(islice(value, most), key=repr))
    if isinstance(value, list | tuple):
        return iter(value)
    if hasattr(value, "tolist") and getattr(value, "shape", None) and _is_at_hand(value):
        return (value[index] for index in range(len(value)))  # a tensor's own iterator copies all
    return None


def _shown_leaf(value: Any) -> str:
    if value is _DEEPER:
        return "…"
    try:
        if _is_at_hand(value):
            return json.dumps(to_json(value))
    except NotJsonError:
        pass
    return f"<{type(value).__qualname__}>"


def _exact_leaf(value: Any) -> str:
    if value is _DEEPER:
        raise NotJsonError("", _TOO_DEEP)
    if not _is_at_hand(value):
        raise NotJsonError(
            "", f"lies on {value.device}, and nothing waits for it; give value.cpu()"
        )
    return json.dumps(to_json(value))


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
        raise NotJsonError(path, _HALF_A_CHARACTER) from None
    return str(value)
