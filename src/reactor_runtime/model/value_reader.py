"""Annotations as value types: what an author wrote, as what a client may send."""

import collections
import collections.abc
import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin, is_typeddict

from reactor_runtime.model.annotations import UNIONS, Names, names_around, resolve
from reactor_runtime.model.compound_types import Again, Items, Record, Row, Slot, Table
from reactor_runtime.model.foreign_type import Foreign
from reactor_runtime.model.input_field import MISSING, FieldInfo, field_info
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


def read_type(annotation: Any, names: Names) -> ValueType:
    """Return the value type that *annotation*, as written or evaluated, declares.

    Raises:
        NameError: It names something that does not exist among *names*.
        TypeError: No client can send such a value.
    """
    return TypeReader(names, {}).read(annotation)


class TypeReader:
    """Reads annotations where *names* are known; *known* are those read on the way there."""

    def __init__(self, names: Names, known: dict[int, tuple[Any, ValueType]]) -> None:
        self._names, self._known = names, known

    def read(self, annotation: Any) -> ValueType:
        """Return the value type of *annotation*; one that holds itself is read once."""
        annotation = resolve(annotation, self._names)
        if isinstance(annotation, collections.abc.Hashable) and annotation in _PLAIN:
            return _PLAIN[annotation]()
        if id(annotation) not in self._known:
            again = Again()
            self._known[id(annotation)] = (annotation, again)
            again.target = self._read(annotation)
            self._known[id(annotation)] = (annotation, again.target)
        return self._known[id(annotation)][1]

    def _read(self, annotation: Any) -> ValueType:
        origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
        if isinstance(annotation, TypeVar):
            return Anything()
        if origin is Literal:
            return Choice([(getattr(a, "value", a), a) for a in arguments])
        if origin is tuple:
            return self._tuple(arguments)
        if origin in UNIONS or origin in _BUILD or origin in _TABLES:
            return self._of_parts(origin, [self.read(a) for a in arguments])
        return self._class(annotation) if isinstance(annotation, type) else Foreign(annotation)

    def _of_parts(self, origin: Any, parts: list[ValueType]) -> ValueType:
        if origin in UNIONS:
            return Union(parts)
        if origin in _TABLES:
            return Table(*(parts or (Text(), Anything())))
        return Items(parts[0] if parts else Anything(), _BUILD[origin])

    def _tuple(self, arguments: tuple[Any, ...]) -> ValueType:
        if not arguments:
            return Items(Anything(), tuple)
        if len(arguments) == 2 and arguments[1] is ...:
            return Items(self.read(arguments[0]), tuple)
        return Row([self.read(a) for a in arguments])

    def _class(self, cls: type[Any]) -> ValueType:
        if issubclass(cls, Enum):
            return Choice([(_on_the_wire(member), member) for member in cls])
        around = collections.ChainMap(dict(names_around(cls)), dict(self._names))
        inside = TypeReader(around, self._known)
        if is_typeddict(cls):
            return Record(dict, lambda: _typed_dict_slots(cls, inside))
        if dataclasses.is_dataclass(cls):
            return Record(cls, lambda: _dataclass_slots(cls, inside))
        return Foreign(cls)


def _on_the_wire(member: Enum) -> Any:
    value = member.value
    return value if isinstance(value, str | int | float | bool) else member.name


def _dataclass_slots(cls: Any, reader: TypeReader) -> dict[str, Slot]:
    slots = {}
    for field in dataclasses.fields(cls):
        if field.init:
            default = MISSING if field.default is dataclasses.MISSING else field.default
            slots[field.name] = Slot(
                type=reader.read(field.type),
                info=field_info(default),
                is_optional=field.default_factory is not dataclasses.MISSING,
            )
    return slots


def _typed_dict_slots(cls: Any, reader: TypeReader) -> dict[str, Slot]:
    return {
        name: Slot(
            type=reader.read(annotation),
            info=FieldInfo(),
            is_optional=name in cls.__optional_keys__,
        )
        for name, annotation in cls.__annotations__.items()
    }
