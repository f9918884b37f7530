"""The types a client can send, as pydantic schemas, and the few rules of ours around them.

Bent: an integral double where a whole number is declared, a whole number where a number is, a list
where a tuple or set is, the value where an enum is. Nothing else is: no text for a number, no
``true`` for 1, no NaN, no infinity. What refuses raises ``WANTED`` with what it wants, or
``REFUSED`` with the whole reason; ``refusals`` makes sentences of them. The context of a check is
its ``ReferencedFiles``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic_core import PydanticCustomError
from pydantic_core import core_schema as cs
from pydantic_core.core_schema import CoreSchema, ValidationInfo

from reactor_runtime.model.file_references import (
    UPLOAD_ID,
    UPLOAD_REFERENCE,
    AbsentFile,
    FileReference,
    ReferencedFiles,
    absent_files,
)
from reactor_runtime.model.input_field import FieldInfo, listed, same
from reactor_runtime.model.uploaded_file import UploadedFile

WANTED: Final = "wanted"
REFUSED: Final = "refused"

JSON: Final = "reactor_json"  # marks of a schema: what its JSON schema is,
FIELD: Final = "reactor_field"  # and what the field it stands in says of it

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def choice(pairs: Sequence[tuple[Any, Any]]) -> CoreSchema:
    """Return the schema of some values on the wire, with what each stands for."""
    values = [wire for wire, _ in pairs]
    kinds = {_KINDS.get(type(v)) for v in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    words = f"one of {listed(values)}"

    def pick(value: Any) -> Any:
        for wire, python in pairs:
            if same(value, wire):
                return python
        raise PydanticCustomError(WANTED, words)

    shown = {"type": kind, "enum": values} if kind else {"enum": values}
    return cs.no_info_plain_validator_function(pick, metadata={JSON: shown})


def built(kind: CoreSchema, build: Callable[[Any], Any]) -> CoreSchema:
    """Return the schema of what *build* makes of a *kind*, if it does not refuse it.

    Nothing is made of a value with gaps: no author's code sees a file that is not there.
    """

    def attempt(value: Any, info: ValidationInfo[ReferencedFiles | None]) -> Any:
        if info.context and info.context.has_gaps and any(absent_files(value)):
            return value
        return made(lambda: build(value))  # an author's __post_init__; items no set can hold

    return cs.with_info_after_validator_function(attempt, kind)


def made(make: Callable[[], Any], *, passes: tuple[type[Exception], ...] = ()) -> Any:
    """Return what *make* returns: code of an author's, called where clients are listened to.

    Whatever it raises refuses the value, ``SystemExit`` and a cancellation too; *passes* are
    refusals already.
    """
    try:
        return make()
    except passes:
        raise
    except BaseException as error:
        reason = f"was refused ({type(error).__name__})"
        raise PydanticCustomError(REFUSED, reason) from error


def field(kind: CoreSchema, info: FieldInfo, is_optional: bool = False) -> cs.TypedDictField:
    """Return one field of a record: *kind* within the constraints of *info*, or its default."""

    def check(value: Any) -> Any:
        reason = info.refusal(value)
        if reason:
            raise PydanticCustomError(REFUSED, reason)
        return value

    if info.is_constrained:
        kind = cs.no_info_after_validator_function(check, kind)
    if not info.required:
        kind = cs.with_default_schema(kind, default=info.default)
    marked: Any = {**kind, "metadata": {**kind.get("metadata", {}), FIELD: info}}
    return cs.typed_dict_field(marked, required=info.required and not is_optional)


def json_text(value: Any, default: Callable[[Any], int] | None = None) -> str:
    """Return *value* as JSON text, with what *default* returns for what JSON has no form for."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=default)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        reason = "must be JSON without NaN, infinity or half a character (a lone surrogate)"
        raise PydanticCustomError(REFUSED, reason) from None
    return text


def whole(value: Any) -> Any:
    """Return an integral double as an int, any other value as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _anything(value: Any, info: ValidationInfo[ReferencedFiles | None]) -> Any:
    if isinstance(value, FileReference):
        return _file(value, info)
    json_text(value, lambda file: _given(file).size)
    return value


def _file(value: Any, info: ValidationInfo[ReferencedFiles | None]) -> UploadedFile | AbsentFile:
    upload_id = value.upload_id if isinstance(value, FileReference) else None
    if isinstance(value, Mapping):
        upload_id = value.get(UPLOAD_ID)
    if not isinstance(upload_id, str):
        return _given(value)
    return info.context.take(upload_id) if info.context else AbsentFile(upload_id)


def _given(value: Any) -> UploadedFile:
    if isinstance(value, UploadedFile):
        return value
    raise PydanticCustomError(WANTED, "an uploaded file")


_UPLOAD = {"$ref": f"#/components/schemas/{UPLOAD_REFERENCE}"}

BOOLEAN = cs.bool_schema(strict=True)
INTEGER = cs.no_info_before_validator_function(whole, cs.int_schema(strict=True))
NUMBER = cs.float_schema(strict=True, allow_inf_nan=False)
# Of text with a limit pydantic asks the length, which only text that can be encoded has.
TEXT = cs.str_schema(strict=True, min_length=0, metadata={JSON: {"type": "string"}})
ANYTHING = cs.with_info_plain_validator_function(_anything, metadata={JSON: {}})
FILE = cs.with_info_plain_validator_function(_file, metadata={JSON: _UPLOAD})
