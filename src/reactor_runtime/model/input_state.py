"""InputState: the typed state of one session, which clients set field by field."""

from typing import Any, ClassVar, Self

from reactor_runtime.model.annotations import keep_scope
from reactor_runtime.model.declared_fields import DeclaredField, read_fields, shown
from reactor_runtime.model.input_field import FieldInfo, check_declaration


class InputState:
    """Base of session states. Annotate fields; the runtime builds one when a session starts.

    A public field becomes a ``set_<field>`` command with its constraints and description. A field
    with an underscore is the author's own and needs a default. A public field without a default,
    such as an ``UploadedFile``, starts as ``None``.
    """

    _reactor_fields: ClassVar[dict[str, DeclaredField]] = {}
    _public_fields: ClassVar[dict[str, FieldInfo]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_scope(cls)
        cls._reactor_fields = read_fields(cls)
        cls._public_fields = {n: f.info for n, f in cls._reactor_fields.items() if f.is_public}
        for name, field in cls._reactor_fields.items():
            _check(cls, field)
            if not field.has_default and not hasattr(cls, name):
                setattr(cls, name, None)

    def __new__(cls, /, *args: Any, **values: Any) -> Self:
        """Give every field its default."""
        # Here and not in __init__: a dataclass decorator or an author may replace __init__.
        state = super().__new__(cls)
        for name, field in cls._reactor_fields.items():
            object.__setattr__(state, name, field.initial())
        return state

    def __init__(self, /, **values: Any) -> None:
        unknown = sorted(values.keys() - type(self)._reactor_fields.keys())
        if unknown:
            raise TypeError(f"{type(self).__qualname__} has no field {', '.join(unknown)}")
        for name, value in values.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return shown(self, type(self)._reactor_fields)


def _check(cls: type, field: DeclaredField) -> None:
    where = f"{cls.__qualname__}.{field.name}"
    if field.is_public:
        check_declaration(field.info, where)
    elif not field.has_default:
        raise TypeError(
            f"{where} has no default; clients cannot set a field with an underscore, "
            "so give it a value to start a session with"
        )
