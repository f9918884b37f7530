"""How large a message is as a frame, without making the frame: workers load no codec.

A frame of the wire's version 1 is, from outside to inside, a ``DataServerMessage`` (kind and
message), a ``ModelMessage`` (type and data), and the body as a ``google.protobuf.Struct``.
"""

from collections.abc import Mapping
from typing import Any


def frame_bytes(name: str, body: Mapping[str, Any]) -> int:
    """Return the bytes of a broadcast called *name* with the JSON *body*."""
    message = _part(len(name.encode())) + _part(_struct(body))
    return 2 + _part(message)


def _part(size: int) -> int:
    """Return the bytes of a field of *size* bytes: its tag, its length, itself."""
    return 1 + (max(1, size.bit_length()) + 6) // 7 + size


def _struct(fields: Mapping[str, Any]) -> int:
    return sum(_part(_part(len(k.encode())) + _part(_value(v))) for k, v in fields.items())


def _value(value: Any) -> int:
    if value is None or isinstance(value, bool):
        return 2
    if isinstance(value, str):
        return _part(len(value.encode()))
    if isinstance(value, Mapping):
        return _part(_struct(value))
    if isinstance(value, list | tuple):
        return _part(sum(_part(_value(item)) for item in value))
    return 9  # every number is a double
