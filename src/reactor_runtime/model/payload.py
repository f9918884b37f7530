"""Payloads: a client's arguments, normalised and validated before any handler runs."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ValidationError

from reactor_runtime.errors import PayloadError
from reactor_runtime.model.command import CommandContract
from reactor_runtime.model.file_references import ReferencedFiles, absent_files
from reactor_runtime.model.refusals import found, refusal, short_name, unresolved
from reactor_runtime.model.uploaded_file import UploadedFile

_MOST_LEVELS = 64


def bind(
    command: CommandContract, payload: Any, files: Mapping[str, UploadedFile]
) -> dict[str, Any]:
    """Return the arguments of *command*, every one of them, defaults included.

    Raises:
        UnresolvedUploadError: Nothing else is wrong but that arguments refer to files that are not
            among *files*; it names all of them.
        PayloadError: Naming command, field and reason; no text of the client's is repeated.
    """
    if not isinstance(payload, Mapping):
        raise PayloadError(
            command.name, None, f"the arguments must be an object, not {found(payload)}"
        )
    for name, value in payload.items():
        if _is_too_deep(value):
            reason = f"is nested more than {_MOST_LEVELS} levels deep"
            raise PayloadError(command.name, short_name(name), reason)
    known = ReferencedFiles(files)
    try:
        arguments: dict[str, Any] = command.validator.validate_python(dict(payload), context=known)
    except ValidationError as error:
        raise refusal(command.name, error) from None
    if known.has_gaps and (gaps := list(absent_files(arguments))):
        raise unresolved(command.name, gaps)
    return arguments


def _is_too_deep(value: Any) -> bool:
    inside = [value]
    for _ in range(_MOST_LEVELS + 1):
        inside = [v for each in inside if isinstance(each, _HOLDERS) for v in _held(each)]
        if not inside:
            return False
    return True


def _held(value: Any) -> Any:
    return value.values() if isinstance(value, Mapping) else value


_HOLDERS = (list, tuple, Mapping)
