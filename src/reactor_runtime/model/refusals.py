"""pydantic's errors as refusals, in words that repeat no text of the client's."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails, ValidationError

from reactor_runtime.errors import PayloadError, UnresolvedUploadError
from reactor_runtime.model.file_references import FileReference
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.model.value_rules import REFUSED, WANTED
from reactor_runtime.model.value_schema import UNION_MEMBER

_WANTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "dataclass_type": "an object",
}
_REASONS = {
    "missing": "is missing",
    "extra_forbidden": "is not known to this command",
    "invalid_key": "is not known to this command",
    "finite_number": "must be a finite number, not NaN or infinity",
    "string_unicode": "holds half a character (a lone surrogate)",
    "too_long": "has too many items",
}
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,20}")
_MOST_SHOWN = 10**15
_MOST_LETTERS = 40
_MOST_PATH_LETTERS = 60
_MOST_REASON_LETTERS = 300


def refusal(command: str, error: ValidationError) -> PayloadError:
    """Return the error that names the first wrong argument of *command*, and why it is."""
    meant = _furthest(error.errors(include_url=False))
    steps = _steps(meant[0])
    reason = f"{_where(steps)}{_reason(meant)}"
    if meant[0]["type"] == "missing" and steps[1:]:
        reason = f"lacks {_shown(steps[1:]).lstrip('.')}"
    reason = reason[:_MOST_REASON_LETTERS]
    return PayloadError(command, short_name(steps[0]) if steps else None, reason)


def unresolved(command: str, gaps: Sequence[tuple[tuple[Any, ...], str]]) -> UnresolvedUploadError:
    """Return the error that names the files that arguments refer to in vain.

    Args:
        command: The command's wire name.
        gaps: Where each of them is wanted, and its upload id.
    """
    wanted = tuple((upload_id, short_name(at[0]), _where(at)) for at, upload_id in gaps)
    return UnresolvedUploadError.of(command, wanted)


def short_name(name: object) -> str:
    """Return a name that a client gave, cut to what an error may repeat."""
    text = name if isinstance(name, str) else "(not text)"
    cut = text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
    return "".join(letter if letter.isprintable() else "?" for letter in cut)


def found(value: Any) -> str:
    """Return what *value* is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if -_MOST_SHOWN < value < _MOST_SHOWN else "such a number"
    for kind, words in ((str, "text"), (Mapping, "an object"), (list | tuple, "a list")):
        if isinstance(value, kind):
            return words
    return "a file" if isinstance(value, UploadedFile | FileReference) else "something else"


def _steps(error: ErrorDetails) -> list[Any]:
    return [step for step in error["loc"] if step != UNION_MEMBER]


def _furthest(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the errors of the first wrong argument that lie deepest, all at one place.

    A union has an error of each member, and the member that was meant is read furthest.
    """
    ours = [e for e in errors if e["loc"][:1] == errors[0]["loc"][:1]]
    place = max(map(_steps, ours), key=len)
    return [e for e in ours if _steps(e) == place]


def _reason(errors: Sequence[ErrorDetails]) -> str:
    wanted = []
    for error in errors:
        kind = error["type"]
        words = error["msg"] if kind == WANTED else _WANTED.get(kind)
        if words is None:  # the right type, and something wrong about it: that says more
            own = error["msg"] if kind == REFUSED else f"is refused ({kind})"
            return _REASONS.get(kind, own)
        wanted.append(words)
    value = errors[0]["input"]
    is_word = any(e["msg"].startswith("one of ") for e in errors) and isinstance(value, str)
    # Where one of a few words is wanted, a word is no prompt: what was typed shows the slip.
    shown = repr(value) if is_word and _WORD.fullmatch(value) else found(value)
    return f"must be {' or '.join(dict.fromkeys(wanted))}, not {shown}"


def _where(steps: Sequence[Any]) -> str:
    return f"at {_shown(steps[1:])}: " if steps[1:] else ""


def _shown(path: Sequence[Any]) -> str:
    return "".join(map(_step, path))[:_MOST_PATH_LETTERS]


def _step(step: Any) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step == "[key]":  # so pydantic says that not a value but its key is wrong
        return " (the key)"
    is_plain = step.isascii() and step.isidentifier() and len(step) <= _MOST_LETTERS
    return f".{step if is_plain else '…'}"
