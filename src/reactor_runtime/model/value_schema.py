"""Annotations as pydantic schemas: what an author wrote, as what a client may send.

The schemas are pydantic-core's own. ``TypeAdapter`` reads only types that are none of ours: it
cannot see the names around a class that a function defines, takes no ``typing.TypedDict`` before
Python 3.12, and in strict mode takes no list for a tuple and no value for an enum.
"""

import collections
import collections.abc
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, is_typeddict

from pydantic_core import ValidationError
from pydantic_core import core_schema as cs
from pydantic_core.core_schema import CoreSchema

from reactor_runtime.model import value_rules as rules
from reactor_runtime.model.annotations import UNIONS, Names, names_around, resolve
from reactor_runtime.model.input_field import MISSING, FieldInfo, field_info
from reactor_runtime.model.uploaded_file import UploadedFile

UNION_MEMBER: Final = "\0"  # where pydantic says at which member of a union an error is

_PLAIN: dict[Any, CoreSchema] = {
    Any: rules.ANYTHING,
    object: rules.ANYTHING,
    bool: rules.BOOLEAN,
    int: rules.INTEGER,
    float: rules.NUMBER,
    str: rules.TEXT,
    None: cs.none_schema(),
    type(None): cs.none_schema(),
    UploadedFile: rules.FILE,
}
_LISTS: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    collections.deque: collections.deque,
    collections.abc.Set: frozenset,
    collections.abc.MutableSet: set,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Collection: list,
    collections.abc.Iterable: list,
}
# pydantic reads these from text: clients would be told that text is what they are.
_NOT_IN_JSON = {
    bytes: "use UploadedFile, or text",
    bytearray: "use UploadedFile, or text",
    complex: "use two numbers, such as tuple[float, float]",
}
_TABLES = {dict, collections.abc.Mapping, collections.abc.MutableMapping}


class SchemaReader:
    """Reads the annotations of one record: a command's arguments or a message's fields."""

    def __init__(self) -> None:
        self._definitions: list[CoreSchema] = []
        self._open: dict[int, str] = {}
        self._recurring: set[str] = set()
        self._refs = map(str, itertools.count())

    def record(self, fields: Mapping[str, cs.TypedDictField]) -> CoreSchema:
        """Return the schema of an object with exactly *fields*, of types this reader has read."""
        return cs.definitions_schema(_record(fields), self._definitions)

    def read(self, annotation: Any, names: Names) -> CoreSchema:
        """Return the schema of *annotation*, written or evaluated, where *names* are known.

        Raises:
            NameError: It names something that does not exist among *names*.
            TypeError: No client can send such a value.
        """
        annotation = resolve(annotation, names)
        if isinstance(annotation, collections.abc.Hashable) and annotation in _PLAIN:
            return _PLAIN[annotation]
        if id(annotation) in self._open:  # it holds itself
            self._recurring.add(self._open[id(annotation)])
            return cs.definition_reference_schema(self._open[id(annotation)])
        ref = self._open[id(annotation)] = next(self._refs)
        try:
            schema = self._read(annotation, names)
        finally:
            del self._open[id(annotation)]
        if ref not in self._recurring:
            return schema
        self._definitions.append({**schema, "ref": ref})
        return cs.definition_reference_schema(ref)

    def _read(self, annotation: Any, names: Names) -> CoreSchema:
        origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
        if isinstance(annotation, TypeVar):
            return rules.ANYTHING
        if origin is Literal:
            return rules.choice([(getattr(a, "value", a), a) for a in arguments])
        if origin in UNIONS or origin in _LISTS or origin in _TABLES:
            parts = [self.read(a, names) for a in arguments if a is not ...]
            return _compound(origin, parts, is_row=origin is tuple and ... not in arguments)
        if not isinstance(annotation, type):
            return _foreign(annotation)
        if issubclass(annotation, Enum):
            return rules.choice([(on_the_wire(member), member) for member in annotation])
        return self._class(annotation, names)

    def _class(self, cls: Any, names: Names) -> CoreSchema:
        if cls in _NOT_IN_JSON:
            raise TypeError(f"{cls.__name__} is no type a client can send; {_NOT_IN_JSON[cls]}")
        if not is_typeddict(cls) and not dataclasses.is_dataclass(cls):
            return _foreign(cls)
        inside = collections.ChainMap(dict(names_around(cls)), dict(names))
        schema = _record(
            {
                name: rules.field(self.read(annotation, inside), info, is_optional)
                for name, annotation, info, is_optional in _fields(cls)
            }
        )
        return schema if is_typeddict(cls) else rules.built(schema, lambda values: cls(**values))


def _record(fields: Mapping[str, cs.TypedDictField]) -> CoreSchema:
    return cs.typed_dict_schema(dict(fields), extra_behavior="forbid")


def _compound(origin: Any, parts: list[CoreSchema], *, is_row: bool) -> CoreSchema:
    if origin in UNIONS:
        return cs.union_schema([(p, UNION_MEMBER) for p in parts], mode="left_to_right")
    if is_row and parts:
        return cs.tuple_schema(parts)
    schema: Any
    if origin in _TABLES:
        key, value = parts or (rules.TEXT, rules.ANYTHING)
        # Keys are text in JSON, so those that are whole numbers are read from it.
        schema = cs.dict_schema(cs.int_schema() if key is rules.INTEGER else key, value)
    else:
        schema = cs.list_schema(parts[0] if parts else rules.ANYTHING)
    schema["fail_fast"] = True  # one error is enough, and a hundred thousand are slow
    build = _LISTS.get(origin, list)
    return schema if build is list else rules.built(schema, build)


def _fields(cls: Any) -> Iterator[tuple[str, Any, FieldInfo, bool]]:
    """Yield name, annotation and declaration of each field, and whether it is optional besides."""
    if is_typeddict(cls):
        for name, annotation in cls.__annotations__.items():
            yield name, annotation, FieldInfo(), name in cls.__optional_keys__
        return
    for field in dataclasses.fields(cls):
        if field.init:
            default = MISSING if field.default is dataclasses.MISSING else field.default
            is_made = field.default_factory is not dataclasses.MISSING
            yield field.name, field.type, field_info(default), is_made


def on_the_wire(member: Enum) -> Any:
    """Return what stands for *member* in a client's call: its value, else its name."""
    value = member.value
    return value if isinstance(value, str | int | float | bool) else member.name


def _foreign(annotation: Any) -> CoreSchema:
    """Return the schema of a date, a UUID, a pydantic model: what only pydantic knows.

    It is read from JSON text, where strict reading is what a client's call needs.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    from reactor_runtime.model.wire_schema import WireSchema

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        shown = WireSchema().generate_inner(adapter.core_schema)
    except PydanticUserError as error:
        raise TypeError(
            f"{annotation!r} is no type a client can send; use numbers, text, lists, "
            "dataclasses, enums or UploadedFile"
        ) from error

    def take(value: Any) -> Any:
        text = rules.json_text(_with_whole_numbers(value))
        return rules.made(
            lambda: adapter.validate_json(text, strict=True), passes=(ValidationError,)
        )

    return cs.no_info_plain_validator_function(take, metadata={rules.JSON: shown})


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(v) for v in value]
    if isinstance(value, Mapping):
        return {k: _with_whole_numbers(v) for k, v in value.items()}
    return rules.whole(value)
