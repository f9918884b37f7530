"""InputField: what a client may send for one handler parameter or one field of the state."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final


class Missing:
    """The type of ``MISSING``, which stands for "no default was given"."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInfo:
    """What one field accepts. It knows no name, so that several parameters can share it.

    Attributes:
        default: The value when none is sent, ``MISSING`` when one must be.
        description: For people.
        ge: Smallest number.
        le: Largest number.
        min_length: Fewest characters or items.
        max_length: Most characters or items.
        choices: The only values allowed.
        moderate: A hint for moderation systems: free text worth a look.
    """

    default: Any = MISSING
    description: str = ""
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    choices: tuple[Any, ...] | None = None
    moderate: bool = False

    @property
    def required(self) -> bool:
        """Return whether a value must be sent."""
        return self.default is MISSING

    @property
    def is_constrained(self) -> bool:
        """Return whether some values of its type are refused."""
        limits = (self.ge, self.le, self.min_length, self.max_length, self.choices)
        return any(limit is not None for limit in limits)

    def refusal(self, value: Any) -> str | None:
        """Return which constraint *value* breaks, in words without the value; ``None`` if none."""
        if value is None:
            return None
        return (
            self._range_refusal(value) or self._length_refusal(value) or self._choice_refusal(value)
        )

    def _range_refusal(self, value: Any) -> str | None:
        if not isinstance(value, int | float):
            return None
        if self.ge is not None and not value >= self.ge:
            return f"must be at least {self.ge}"
        if self.le is not None and not value <= self.le:
            return f"must be at most {self.le}"
        return None

    def _length_refusal(self, value: Any) -> str | None:
        if not hasattr(value, "__len__"):
            return None
        unit = "characters" if isinstance(value, str) else "items"
        if self.min_length is not None and len(value) < self.min_length:
            return f"must have at least {self.min_length} {unit}, not {len(value)}"
        if self.max_length is not None and len(value) > self.max_length:
            return f"must have at most {self.max_length} {unit}, not {len(value)}"
        return None

    def _choice_refusal(self, value: Any) -> str | None:
        if self.choices is None or any(same(value, choice) for choice in self.choices):
            return None
        if isinstance(value, list | tuple | set | frozenset):
            return next((r for item in value if (r := self._choice_refusal(item))), None)
        return f"must be one of {listed(self.choices)}"


def InputField(  # noqa: N802, PLR0913 - the published signature
    default: Any = MISSING,
    *,
    description: str = "",
    ge: float | None = None,
    le: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    choices: Iterable[Any] | None = None,
    moderate: bool = False,
) -> Any:
    """Declare what a client may send: the default of a handler parameter or of a state field.

    Without *default* the value is required. A default that breaks its own constraint, or is a
    mutable container, is a ``TypeError`` when the class is defined. One object may be shared by
    several parameters; a handler called directly without the argument receives the object.
    """
    return FieldInfo(
        default=MISSING if default is ... else default,
        description=description,
        ge=ge,
        le=le,
        min_length=min_length,
        max_length=max_length,
        choices=None if choices is None else tuple(choices),
        moderate=moderate,
    )


def field_info(default: Any) -> FieldInfo:
    """Return the declaration that the right-hand side of a field or parameter makes."""
    return default if isinstance(default, FieldInfo) else FieldInfo(default=default)


def check_declaration(info: FieldInfo, where: str) -> None:
    """Refuse a declaration that no value, or not its own default, can satisfy.

    Raises:
        TypeError: Naming *where* it stands and the cure.
    """
    _check_pair(where, ("ge", info.ge), ("le", info.le))
    _check_pair(where, ("min_length", info.min_length), ("max_length", info.max_length))
    if info.choices == ():
        raise TypeError(f"{where}: choices is empty, so no value fits; list at least one")
    if is_mutable(info.default):
        raise TypeError(
            f"{where}: the default is a {type(info.default).__name__}, which all calls would "
            "share; use a tuple, or None and make a fresh one"
        )
    reason = None if info.required else info.refusal(info.default)
    if reason:
        raise TypeError(
            f"{where}: the default {info.default!r} breaks its own constraint: it {reason}"
        )


def is_mutable(value: Any) -> bool:
    """Return whether *value* is a container that sharing would make a trap."""
    return isinstance(value, list | dict | set | bytearray)


def same(one: Any, other: Any) -> bool:
    """Return whether two values, or an enum and a value, are equal, a bool never being 1 or 0."""
    if isinstance(one, Enum) is not isinstance(other, Enum):
        one, other = getattr(one, "value", one), getattr(other, "value", other)
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other)


def listed(values: Sequence[Any], most: int = 12) -> str:
    """Return the first *most* of *values* for a sentence."""
    shown = ", ".join(_short(getattr(v, "value", v)) for v in values[:most])
    return shown if len(values) <= most else f"{shown}, … ({len(values)} in all)"


def _short(value: Any, most: int = 40) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _check_pair(where: str, low: tuple[str, Any], high: tuple[str, Any]) -> None:
    for name, bound in (low, high):
        if bound is not None and (isinstance(bound, bool) or not hasattr(bound, "__lt__")):
            raise TypeError(f"{where}: {name} is {bound!r}; give a number")
    if low[1] is not None and high[1] is not None and low[1] > high[1]:
        raise TypeError(
            f"{where}: {low[0]} {low[1]} is above {high[0]} {high[1]}, so no value fits"
        )
