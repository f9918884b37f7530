"""The public state of a model as digests, one for each field: equal state, equal digest."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.model.uploaded_file import UploadedFile

AUTHORS_OWN = "lockstep_digest()"


def state_digests(model: ReactorModel) -> dict[str, str]:
    """Return a SHA-256 for each public field, and for what ``lockstep_digest()`` returns."""
    state = model.state
    digests: dict[str, str] = {}
    if isinstance(state, InputState):
        for name in type(state)._public_fields:
            digests[f"state.{name}"] = digest_of(getattr(state, name))
    own = getattr(model, "lockstep_digest", None)
    if callable(own):
        digests[AUTHORS_OWN] = digest_of(own())
    return digests


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a value: arrays and tensors by dtype, shape and bytes."""
    digest = hashlib.sha256()
    _feed(digest.update, value)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        tensor = value.detach().cpu()
        tensor = tensor.float() if str(tensor.dtype).endswith("bfloat16") else tensor
        _feed(update, tensor.numpy())
    elif isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        update(f"array {array.dtype} {array.shape} ".encode())
        update(array.tobytes())
    elif isinstance(value, UploadedFile):
        update(f"file {value.name!r} {value.mime_type!r} ".encode())
        update(value.data)
    elif isinstance(value, bytes | bytearray | memoryview):
        update(b"bytes " + bytes(value))
    else:
        _feed_plain(update, value)


def _feed_plain(update: Callable[[bytes], None], value: Any) -> None:
    if isinstance(value, Mapping):
        update(b"{")
        for key in sorted(value, key=repr):
            _feed(update, key)
            _feed(update, value[key])
        update(b"}")
    elif isinstance(value, list | tuple):
        update(b"[")
        for each in value:
            _feed(update, each)
        update(b"]")
    elif value is None or isinstance(value, bool | int | float | str):
        update(f"{type(value).__name__} {value!r} ".encode())
    else:
        update(type(value).__qualname__.encode())
        _feed(update, vars(value) if hasattr(value, "__dict__") else repr(value))
