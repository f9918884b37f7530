"""The annotated fields of a state or message class, read once when the class is defined."""

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from reactor_runtime.model.annotations import all_annotations, is_authors, own_annotations
from reactor_runtime.model.input_field import MISSING, FieldInfo, field_info


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredField:
    """One annotated field.

    Attributes:
        name: The attribute.
        annotation: Its type as written; a string when postponed.
        owner: The class that declares it, where its type's names are known.
        info: What the right-hand side says.
        factory: Makes the default, when it is made and not copied.
    """

    name: str
    annotation: Any
    owner: type
    info: FieldInfo
    factory: Callable[[], Any] | None = None

    @property
    def is_public(self) -> bool:
        """Return whether clients see it."""
        return not self.name.startswith("_")

    @property
    def has_default(self) -> bool:
        """Return whether it can be left out."""
        return self.factory is not None or not self.info.required

    def initial(self) -> Any:
        """Return a default value of the caller's own, ``None`` where none was declared."""
        if self.factory is not None:
            return self.factory()
        default = None if self.info.required else self.info.default
        return copy.deepcopy(default) if _is_mutable(default) else default


def read_fields(cls: type) -> dict[str, DeclaredField]:
    """Read the fields of *cls* and its bases in order; a redeclared field replaces.

    The declarations among its attributes are replaced by their defaults, so that a dataclass
    decorator above it and reading the attribute on the class both see plain values.
    """
    if "_reactor_fields" in vars(cls):  # a decorator has copied the class: it is read already
        return dict(vars(cls)["_reactor_fields"])
    fields: dict[str, DeclaredField] = {}
    for base in reversed(cls.__mro__[1:]):
        known = vars(base).get("_reactor_fields", {})
        fields.update({name: known[name] for name in own_annotations(base) if name in known})
    _check_declarations(cls)
    for name, annotation in own_annotations(cls).items():
        if is_authors(cls):
            fields[name] = _declared(cls, name, annotation)
            _show_default(cls, fields[name])
    return fields


def shown(value: object, fields: Mapping[str, DeclaredField]) -> str:
    """Return ``Class(field=…)``."""
    inside = ", ".join(f"{name}={getattr(value, name, None)!r}" for name in fields)
    return f"{type(value).__qualname__}({inside})"


def _check_declarations(cls: type) -> None:
    typed = all_annotations(cls)
    for name, value in vars(cls).items():
        if isinstance(value, FieldInfo) and name not in typed and not name.startswith("_"):
            raise TypeError(
                f"{cls.__qualname__}.{name} has no type: write {name}: float = …, or whatever "
                "clients send"
            )


def _declared(cls: type, name: str, annotation: Any) -> DeclaredField:
    default = vars(cls).get(name, MISSING)
    factory = None
    if isinstance(default, dataclasses.Field):
        factory = (
            None if default.default_factory is dataclasses.MISSING else default.default_factory
        )
        default = MISSING if default.default is dataclasses.MISSING else default.default
    return DeclaredField(
        name=name,
        annotation=annotation,
        owner=cls,
        info=field_info(default),
        factory=factory,
    )


def _is_mutable(value: object) -> bool:
    """Whether *value* would carry what one session wrote into it over to the next."""
    is_array = hasattr(value, "dtype") and hasattr(value, "shape")  # a tensor is hashable
    return type(value).__hash__ is None or is_array


def _show_default(cls: type, field: DeclaredField) -> None:
    if not isinstance(vars(cls).get(field.name), FieldInfo):
        return
    if field.info.required:
        delattr(cls, field.name)
    else:
        setattr(cls, field.name, field.info.default)
