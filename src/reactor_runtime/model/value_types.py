"""What a value from a client must be: normalised by declared type, then taken strictly.

Normalised: an integral double where a whole number is declared, a whole number where a number is,
a list where a tuple or set is, the value where an enum is. Nothing else is bent: no text for a
number, no ``true`` for 1, no NaN, no infinity.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from reactor_runtime.model.input_field import listed, same
from reactor_runtime.model.uploaded_file import UploadedFile

Schema = dict[str, Any]
MOST_LEVELS = 64
_MOST_SHOWN = 10**15


class MismatchError(Exception):
    """Raised when a value is not what was declared.

    Attributes:
        reason: In words that repeat no text of the client's.
        path: From the argument to the value, as ``[2].x``.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason, self.path = reason, path

    def within(self, step: str) -> "MismatchError":
        """Return the same error seen from one level further out."""
        return type(self)(self.reason, f"{step}{self.path}")


class FileNotHereError(MismatchError):
    """Raised when a value refers to a file whose bytes are not here."""


class Accepts(Protocol):
    """What takes a value, or raises ``MismatchError``."""

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* normalised."""
        ...


class ValueType(ABC):
    """One declared type. ``words`` say what it wants."""

    words: str
    is_file = False

    @abstractmethod
    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* normalised.

        Raises:
            MismatchError: It is not of this type.
        """

    @abstractmethod
    def schema(self) -> Schema:
        """Return the JSON schema."""

    def refuse(self, value: Any) -> MismatchError:
        """Return the error for a *value* of another type."""
        return MismatchError(f"must be {self.words}, not {found(value)}")


class Boolean(ValueType):
    """``true`` or ``false``."""

    words = "true or false"

    def accept(self, value: Any, level: int = 0) -> bool:
        """Return *value*."""
        if isinstance(value, bool):
            return value
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "boolean"}


class Integer(ValueType):
    """A whole number of any size; an integral double is one."""

    words = "a whole number"

    def accept(self, value: Any, level: int = 0) -> int:
        """Return *value* as an int."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "integer"}


class Number(ValueType):
    """A finite double."""

    words = "a number"

    def accept(self, value: Any, level: int = 0) -> float:
        """Return *value* as a float."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        try:
            number = float(value)
        except OverflowError:
            raise MismatchError("is too large a number") from None
        if not math.isfinite(number):
            raise MismatchError("must be a finite number, not NaN or infinity")
        return number

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "number"}


class Text(ValueType):
    """Text that can be encoded."""

    words = "text"

    def accept(self, value: Any, level: int = 0) -> str:
        """Return *value*."""
        if not isinstance(value, str):
            raise self.refuse(value)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise MismatchError("is text with half a character (a lone surrogate)") from None
        return value

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "string"}


class Null(ValueType):
    """``null``."""

    words = "null"

    def accept(self, value: Any, level: int = 0) -> None:
        """Return ``None``."""
        if value is not None:
            raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"type": "null"}


class Choice(ValueType):
    """One of some values, by what stands on the wire: a ``Literal`` or an enum."""

    def __init__(self, values: Mapping[Any, Any] | Sequence[tuple[Any, Any]]) -> None:
        self.pairs = list(values.items()) if isinstance(values, Mapping) else list(values)
        self.words = f"one of {listed([wire for wire, _ in self.pairs])}"

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return what the value on the wire stands for."""
        for wire, python in self.pairs:
            if same(value, wire):
                return python
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema; bare when the values are of several types."""
        values = [wire for wire, _ in self.pairs]
        kinds = {_KINDS.get(type(v)) for v in values}
        kind = kinds.pop() if len(kinds) == 1 else None
        return {"type": kind, "enum": values} if kind else {"enum": values}


class File(ValueType):
    """An uploaded file, put in the place of a reference before the payload is read."""

    words = "an uploaded file"
    is_file = True

    def accept(self, value: Any, level: int = 0) -> UploadedFile:
        """Return *value*.

        Raises:
            FileNotHereError: It is a reference still.
        """
        if isinstance(value, UploadedFile):
            return value
        if isinstance(value, Mapping) and "upload_id" in value:
            raise FileNotHereError("refers to a file whose bytes did not arrive")
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"$ref": "#/components/schemas/ReactorUploadReference"}


class Anything(ValueType):
    """Any JSON value without NaN and infinity; what an undeclared type means."""

    words = "a JSON value"

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* itself."""
        if value is None or isinstance(value, bool | int | UploadedFile):
            return value
        if isinstance(value, str):
            return _TEXT.accept(value)
        if isinstance(value, float):
            return _NUMBER.accept(value)
        check_level(level)
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                step_into(self, item, level, f"[{index}]")
            return value
        if isinstance(value, Mapping):
            for key, item in value.items():
                _TEXT.accept(key)
                step_into(self, item, level, ".…")
            return value
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {}


class Union(ValueType):
    """The first of several types that takes the value."""

    def __init__(self, members: Sequence[ValueType]) -> None:
        self.members = members
        self.words = " or ".join(m.words for m in members)
        self.is_file = any(m.is_file for m in members)

    def accept(self, value: Any, level: int = 0) -> Any:
        """Return *value* as the first member that takes it does."""
        refusals = []
        for member in self.members:
            try:
                return member.accept(value, level)
            except FileNotHereError:
                raise
            except MismatchError as error:
                refusals.append((member, error))
        meant = [(m, e) for m, e in refusals if not isinstance(m, Null)]
        if len(meant) == 1 and not meant[0][1].reason.startswith(f"must be {meant[0][0].words}"):
            raise meant[0][1]  # right type, wrong inside: that says more than the list of types
        raise self.refuse(value)

    def schema(self) -> Schema:
        """Return the JSON schema."""
        return {"anyOf": [m.schema() for m in self.members]}


def step_into(kind: Accepts, value: Any, level: int, step: str) -> Any:
    """Return *value*, one level inside another at *step*, as *kind* takes it."""
    try:
        return kind.accept(value, level + 1)
    except MismatchError as error:
        raise error.within(step) from None


def check_level(level: int) -> None:
    """Refuse a value that lies too deep."""
    if level >= MOST_LEVELS:
        raise MismatchError(f"is nested more than {MOST_LEVELS} levels deep")


def found(value: Any) -> str:
    """Return what *value* is, in words that repeat no text of the client's."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if -_MOST_SHOWN < value < _MOST_SHOWN else "such a number"
    for kind, words in ((str, "text"), (Mapping, "an object"), (list | tuple, "a list")):
        if isinstance(value, kind):
            return words
    return "a file" if isinstance(value, UploadedFile) else "something else"


_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}
_TEXT, _NUMBER = Text(), Number()
