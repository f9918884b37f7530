"""ModelMessage: what an author sends to clients; typed, named after its class."""

import re
from typing import Any, ClassVar, Self, dataclass_transform

from reactor_runtime.model.annotations import keep_scope
from reactor_runtime.model.declared_fields import DeclaredField, read_fields, shown
from reactor_runtime.model.input_field import MISSING, FieldInfo
from reactor_runtime.model.json_value import to_json_fields


def MessageField(default: Any = MISSING, *, description: str = "") -> Any:  # noqa: N802 - published
    """Declare a field of a message: its default and what it says."""
    return FieldInfo(default=MISSING if default is ... else default, description=description)


@dataclass_transform(kw_only_default=True, field_specifiers=(MessageField,))
class ModelMessage:
    """Base of messages to clients. Annotate fields; construct with keywords.

    The class name in snake_case is the name on the wire, the docstring its summary in the schema.
    """

    _reactor_fields: ClassVar[dict[str, DeclaredField]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_scope(cls)
        cls._reactor_fields = read_fields(cls)

    def __new__(cls, /, *args: Any, **values: Any) -> Self:
        """Give every field that has a default its default."""
        # Here and not in __init__: a dataclass decorator replaces __init__.
        message = super().__new__(cls)
        for name, field in cls._reactor_fields.items():
            if field.has_default:
                object.__setattr__(message, name, field.initial())
        return message

    def __init__(self, /, **values: Any) -> None:
        fields = type(self)._reactor_fields
        unknown = sorted(values.keys() - fields.keys())
        missing = [n for n, f in fields.items() if not f.has_default and n not in values]
        if unknown or missing:
            wrong = [f"it has no field {n!r}" for n in unknown]
            wrong += [f"it needs {n!r}" for n in missing]
            raise TypeError(f"{type(self).__qualname__}: {', '.join(wrong)}")
        for name, value in values.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return shown(self, type(self)._reactor_fields)


# Functions and not methods: a field of an author's message may have any name.


def wire_name(kind: type[ModelMessage]) -> str:
    """Return the name clients see: the class name in snake_case."""
    return snake_case(kind.__name__)


def body_of(message: ModelMessage) -> dict[str, Any]:
    """Return the fields of *message* as JSON values.

    Raises:
        MessageBodyError: A field holds something JSON cannot say, NaN and infinity included.
    """
    kind = type(message)
    public = [name for name, field in kind._reactor_fields.items() if field.is_public]
    return to_json_fields(kind.__qualname__, {name: getattr(message, name) for name in public})


def snake_case(name: str) -> str:
    """Return a class name as a wire name: ``HTTPStatus2`` is ``http_status2``."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name))
    return re.sub(r"_+", "_", words).strip("_").lower()
