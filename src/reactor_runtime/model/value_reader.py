"""Annotations as value types: what an author wrote, as what a client may send."""

import collections
import collections.abc
import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin

from reactor_runtime.model.annotations import UNIONS, Names, names_around, resolve
from reactor_runtime.model.compound_types import Items, Record, Row, Slot, Table
from reactor_runtime.model.foreign_type import Foreign
from reactor_runtime.model.input_field import MISSING, field_info
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.model.value_types import (
    Anything,
    Boolean,
    Choice,
    File,
    Integer,
    Null,
    Number,
    Text,
    Union,
    ValueType,
)

_PLAIN: dict[Any, Callable[[], ValueType]] = {
    Any: Anything,
    object: Anything,
    bool: Boolean,
    int: Integer,
    float: Number,
    str: Text,
    None: Null,
    type(None): Null,
    UploadedFile: File,
}
_BUILD: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.deque: collections.deque,
    collections.abc.Set: frozenset,
    collections.abc.MutableSet: set,
    **dict.fromkeys(
        (
            collections.abc.Sequence,
            collections.abc.MutableSequence,
            collections.abc.Collection,
            collections.abc.Iterable,
        ),
        list,
    ),
}
_TABLES = {dict, collections.abc.Mapping, collections.abc.MutableMapping}


def read_type(
    annotation: Any, names: Names, records: dict[type, Record] | None = None
) -> ValueType:
    """Return the value type that *annotation* declares.

    Args:
        annotation: As written, or evaluated.
        names: What it may name.
        records: The dataclasses read on the way here, so that one may hold itself.

    Raises:
        NameError: It names something that does not exist among *names*.
        TypeError: No client can send such a value.
    """
    annotation = resolve(annotation, names)
    if isinstance(annotation, collections.abc.Hashable) and annotation in _PLAIN:
        return _PLAIN[annotation]()
    known = {} if records is None else records
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if isinstance(annotation, TypeVar):
        return Anything()
    if origin is Literal:
        return Choice([(getattr(a, "value", a), a) for a in arguments])
    if origin is tuple:
        return _tuple(arguments, names, known)
    if origin in UNIONS or origin in _BUILD or origin in _TABLES:
        return _of_parts(origin, arguments, names, known)
    return _class(annotation, names, known)


def _of_parts(
    origin: Any, arguments: tuple[Any, ...], names: Names, records: dict[type, Record]
) -> ValueType:
    parts = [read_type(a, names, records) for a in arguments]
    if origin in UNIONS:
        return Union(parts)
    if origin in _TABLES:
        return Table(*(parts or (Text(), Anything())))
    return Items(parts[0] if parts else Anything(), _BUILD[origin])


def _tuple(arguments: tuple[Any, ...], names: Names, records: dict[type, Record]) -> ValueType:
    if not arguments:
        return Items(Anything(), tuple)
    if len(arguments) == 2 and arguments[1] is ...:
        return Items(read_type(arguments[0], names, records), tuple)
    return Row([read_type(a, names, records) for a in arguments])


def _class(annotation: Any, names: Names, records: dict[type, Record]) -> ValueType:
    if not isinstance(annotation, type):
        return Foreign(annotation)
    if issubclass(annotation, Enum):
        return Choice([(_on_the_wire(member), member) for member in annotation])
    if not dataclasses.is_dataclass(annotation):
        return Foreign(annotation)
    if annotation not in records:
        records[annotation] = Record(annotation, lambda: _slots(annotation, names, records))
    return records[annotation]


def _on_the_wire(member: Enum) -> Any:
    value = member.value
    return value if isinstance(value, str | int | float | bool) else member.name


def _slots(cls: Any, names: Names, records: dict[type, Record]) -> dict[str, Slot]:
    around: Names = collections.ChainMap(dict(names_around(cls)), dict(names))
    slots = {}
    for field in dataclasses.fields(cls):
        if field.init:
            default = MISSING if field.default is dataclasses.MISSING else field.default
            made = field.default_factory
            slots[field.name] = Slot(
                type=read_type(field.type, around, records),
                info=field_info(default),
                factory=None if made is dataclasses.MISSING else made,
            )
    return slots
