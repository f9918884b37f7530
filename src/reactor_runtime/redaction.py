"""What a log line may hold: no credential, no bulk, nothing that cannot be printed.

Pure functions over values. A field is judged by its name, free text by its shape.
"""

import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

HIDDEN = "***"

_MAX_TEXT = 4_000  # characters of one value
_MAX_REPR = 500
_MAX_ITEMS = 64
_MAX_DEPTH = 4

_SECRET_NAME = re.compile(
    r"(?:^|[_\-.])(?:token|authorization|credentials?|password|passwd|pwd|secret|cookie|api_?key)$",
    re.IGNORECASE,
)
_BULK_NAMES = frozenset({"prompt", "payload", "arguments", "args", "frame", "frames", "pixels"})

_SECRET_WORD = r"(?:access_?)?token|authorization|credentials?|password|passwd|secret|api_?key"
_SCRUBS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{4,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (
        re.compile(rf"\b({_SECRET_WORD})(=|[\"']\s*:\s*)([\"']?)[^\s,;&\"'}}#]+", re.IGNORECASE),
        rf"\1\2\3{HIDDEN}",
    ),
    (re.compile(r"\b((?:turns?|stuns?):(?://)?)[^\s\"']+@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    (re.compile(r"(://)[^\s@/?\"']+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"\b(ice-pwd:)\S+", re.IGNORECASE), rf"\1{HIDDEN}"),
)


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a credential."""
    return _SECRET_NAME.search(name) is not None


def scrub(text: str) -> str:
    """Return *text* with bearer tokens, secret parameters and URI credentials hidden."""
    for pattern, replacement in _SCRUBS:
        text = pattern.sub(replacement, text)
    return text


def clean_fields(fields: Mapping[str, Any], *, hide_bulk: bool) -> dict[str, Any]:
    """Return *fields* as printable values: text, numbers, booleans, ``None``, lists, dicts.

    Args:
        fields: Field name to value.
        hide_bulk: Also hide what clients send (prompts, payloads, frames) by field name.
    """
    return {
        name: HIDDEN if hide_bulk and name in _BULK_NAMES else clean(value, name=name)
        for name, value in fields.items()
    }


def clean(value: Any, *, name: str = "", depth: int = 0) -> Any:
    """Return one printable value for *value*; never raises."""
    if is_secret_name(name) and value is not None:
        return HIDDEN
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _bounded(scrub(str(value)), _MAX_TEXT)
    if isinstance(value, int | float):
        return _number(value)
    if depth < _MAX_DEPTH and isinstance(value, Mapping | list | tuple | set | frozenset):
        return _container(value, name, depth)
    return _described(value)


def _number(value: float) -> Any:
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 63 else hex(value)[:_MAX_REPR]
    return float(value) if math.isfinite(value) else str(value)


def _container(value: Mapping[Any, Any] | Iterable[Any], name: str, depth: int) -> Any:
    if isinstance(value, Mapping):
        pairs = list(value.items())[:_MAX_ITEMS]
        return {str(key): clean(item, name=str(key), depth=depth + 1) for key, item in pairs}
    return [clean(item, name=name, depth=depth + 1) for item in list(value)[:_MAX_ITEMS]]


def _described(value: Any) -> str:
    """Describe what has no plain form: bytes and arrays by size, the rest by ``repr``."""
    try:
        if isinstance(value, bytes | bytearray | memoryview):
            return f"<{len(value)} bytes>"
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return f"<{value.dtype} {tuple(value.shape)}>"
        if isinstance(value, BaseException):
            return _bounded(scrub(f"{type(value).__name__}: {value}"), _MAX_TEXT)
        if isinstance(value, PurePath | Enum):
            return scrub(str(value.value if isinstance(value, Enum) else value))
        return _bounded(scrub(repr(value)), _MAX_REPR)
    except Exception:  # noqa: BLE001 - a foreign __repr__ may raise anything; a log line must not
        return f"<{type(value).__name__}>"


def _bounded(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
