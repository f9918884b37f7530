"""Payloads: a client's arguments, normalised and validated before any handler runs."""

import copy
from collections.abc import Mapping
from typing import Any

from reactor_runtime.errors import PayloadError, UnresolvedUploadError
from reactor_runtime.model.command import CommandContract
from reactor_runtime.model.compound_types import short_name
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.model.value_types import FileNotHereError, MismatchError, found

_MOST_REASON_LETTERS = 300


def bind(
    command: CommandContract, payload: Any, uploads: Mapping[str, UploadedFile]
) -> dict[str, Any]:
    """Return the arguments of *command*, every one of them, defaults included.

    Raises:
        UnresolvedUploadError: An argument refers to a file that is not among *uploads*.
        PayloadError: Naming command, field and reason; no text of the client's is repeated.
    """
    if not isinstance(payload, Mapping):
        raise PayloadError(
            command.name, None, f"the arguments must be an object, not {found(payload)}"
        )
    sent = {**payload, **uploads}
    for name in sent:
        if name not in command.fields:
            raise PayloadError(command.name, short_name(name), "is no argument of this command")
    arguments: dict[str, Any] = {}
    for name, field in command.fields.items():
        if name in sent:
            arguments[name] = _accepted(command, name, sent[name])
        elif field.info.required:
            raise PayloadError(command.name, name, "is missing")
        else:
            default = field.info.default
            unshared = type(default).__hash__ is None
            arguments[name] = copy.deepcopy(default) if unshared else default
    return arguments


def _accepted(command: CommandContract, name: str, value: Any) -> Any:
    try:
        return command.fields[name].slot.accept(value)
    except MismatchError as error:
        where = f"at {error.path[:60]}: " if error.path else ""
        reason = f"{where}{error.reason}"[:_MOST_REASON_LETTERS]
        unresolved = isinstance(error, FileNotHereError)
        kind = UnresolvedUploadError if unresolved else PayloadError
        raise kind(command.name, name, reason) from None
